// The fake Stripe's errors. https://docs.stripe.com/api/errors
export type StripeErrorBody = {
  readonly type: 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error'
  readonly message: string
  readonly code?: string
  readonly decline_code?: string
  readonly param?: string
  readonly [more: string]: unknown
}

export class StripeApiError extends Error {
  override readonly name = 'StripeApiError'
  readonly status: number
  readonly body: StripeErrorBody
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, body: StripeErrorBody, headers: Readonly<Record<string, string>> = {}) {
    super(body.message)
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** @param status 400 for an id in a parameter, 404 for an id in the path */
export function noSuch(what: string, id: string, param: string, status: 400 | 404): StripeApiError {
  return new StripeApiError(status, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${what}: '${id}'`,
    param,
  })
}

export function invalid(code: string | undefined, message: string, param?: string): StripeApiError {
  return new StripeApiError(400, {
    type: 'invalid_request_error',
    message,
    ...(code === undefined ? {} : { code }),
    ...(param === undefined ? {} : { param }),
  })
}

/** https://docs.stripe.com/rate-limits */
export function tooManyRequests(headers: Readonly<Record<string, string>>): StripeApiError {
  const message = 'Testmode request rate limit exceeded, the rate limits in testmode are lower than livemode.'
  return new StripeApiError(429, { type: 'invalid_request_error', code: 'rate_limit', message }, headers)
}
