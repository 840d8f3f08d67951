// The errors that clients can see.

/** Error code → HTTP status. The codes are part of the contract with clients and are never renamed. */
export const errorStatus = {
  invalid_request: 400,
  invalid_signature: 400,
  unauthenticated: 401,
  payment_declined: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_key_in_flight: 409,
  concurrent_modification: 409,
  job_running: 409,
  payment_not_cancelable: 409,
  payment_not_capturable: 409,
  payment_not_refundable: 409,
  precondition_failed: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  amount_inconsistent: 422,
  card_number_rejected: 422,
  provider_not_enabled: 422,
  currency_not_supported: 422,
  currency_mismatch: 422,
  capture_method_not_supported: 422,
  capture_exceeds_authorization: 422,
  refund_exceeds_payment: 422,
  reference_not_found: 422,
  recorded_payment_id: 422,
  provider_rejected: 422,
  idempotency_key_reused: 422,
  rate_limited: 429,
  internal_error: 500,
  provider_unavailable: 502,
  identity_unavailable: 503,
  event_store_unavailable: 503,
  service_unavailable: 503,
  provider_outcome_unknown: 504,
} as const

export type ErrorCode = keyof typeof errorStatus

/** An error with a code of the table above. Clients see `details`, but never `cause`. */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(code: ErrorCode, message: string, details?: Record<string, unknown>, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.details = details
  }

  get status(): number {
    return errorStatus[this.code]
  }
}

/** A request with invalid fields. Each message continues the field's name to a sentence. */
export function invalidFields(fields: readonly { readonly field: string; readonly message: string }[]): DomainError {
  const message = fields.map(({ field, message }) => `${field} ${message}`).join('; ')
  return new DomainError('invalid_request', message, { fields })
}
