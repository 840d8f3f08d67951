// What the calls of the client, and its verification of proofs, throw.
import type { components } from './schema.ts'

export type ErrorCode = components['schemas']['ErrorCode']

/**
 * An error response. Decide by `code`; quote `request_id` in support requests. The code `unexpected_response` is not of the
 * API: something between client and API responded, such as a proxy.
 */
export class PaylogError extends Error {
  override readonly name = 'PaylogError'
  readonly status: number
  readonly code: ErrorCode | 'unexpected_response'
  /** Depends on the code: `fields` of `invalid_request`, `payment_id` of a payment that failed. */
  readonly details: Readonly<Record<string, unknown>>
  readonly request_id: string | null
  /** Of the response, such as Retry-After. */
  readonly headers: Headers

  /** @param body of the response, parsed if it was JSON */
  constructor({ status, headers }: Response, body: unknown) {
    const error = isErrorResponse(body) ? body.error : undefined
    super(error?.message ?? `The response has the status ${status}, and is not from Paylog`)
    this.status = status
    this.headers = headers
    this.code = error?.code ?? 'unexpected_response'
    this.details = error?.details ?? {}
    this.request_id = error?.request_id ?? headers.get('x-request-id')
  }
}

function isErrorResponse(body: unknown): body is components['schemas']['ErrorResponse'] {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  return typeof error === 'object' && error !== null && 'code' in error && 'message' in error
}

/**
 * There was no response, also not to retries: no connection, or a time-out. `cause` says more. Whether a write was executed is
 * not known; a request with an Idempotency-Key can be sent again with the same key.
 */
export class PaylogConnectionError extends Error {
  override readonly name = 'PaylogConnectionError'

  constructor(cause: unknown) {
    super('There was no response from Paylog', { cause })
  }
}

/**
 * Something could not be verified. The message says what is wrong: of the `proof`, which then proves nothing; of the `file`, which is no
 * proof; of the `key`; or of this `platform`, which has no Ed25519, as pages without TLS have none.
 */
export class VerificationError extends Error {
  override readonly name = 'VerificationError'
  readonly of: 'proof' | 'file' | 'key' | 'platform'

  constructor(of: VerificationError['of'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.of = of
  }
}
