// A request that did not succeed.

export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** 0 when there was no response. */
  readonly status: number
  readonly code: string
  /** Empty when there was no response. */
  readonly requestId: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(about: {
    readonly status: number
    readonly code: string
    readonly message: string
    readonly requestId?: string
    readonly details?: Readonly<Record<string, unknown>> | undefined
    readonly cause?: unknown
  }) {
    super(about.message, { cause: about.cause })
    this.status = about.status
    this.code = about.code
    this.requestId = about.requestId ?? ''
    this.details = about.details ?? {}
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** The error of a response. @param body parsed; anything when a proxy made the response */
export function errorOfResponse(status: number, body: unknown, headerRequestId: string | null): ApiError {
  const error = isObject(body) && isObject(body.error) ? body.error : {}
  const { code, message, request_id, details } = error
  return new ApiError({
    status,
    code: typeof code === 'string' ? code : `http_${status}`,
    message: typeof message === 'string' ? message : `The server responded with ${status}`,
    requestId: typeof request_id === 'string' ? request_id : (headerRequestId ?? ''),
    details: isObject(details) ? details : {},
  })
}

/** Whether it is not known if the provider did what was asked. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'provider_outcome_unknown'

/** Whether the session is missing, unknown or expired. */
export const isUnauthenticated = (error: unknown): boolean => error instanceof ApiError && error.status === 401

/** Whether sending the same request again may help. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status === 503)
