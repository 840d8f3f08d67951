// The explanation of each error code in the OpenAPI document, with an example.
import { type ErrorCode, errorStatus } from '@paylog/domain/errors'
import { ErrorResponse } from '@paylog/runtime/http/openApiSchemas'
import { Type } from 'typebox'

type ErrorExplanation = { readonly why: string; readonly message: string; readonly details?: object }

const id = '018f0000-0000-7000-8000-000000000001'
const field = (name: string, message: string) => ({ fields: [{ field: name, message }] })

/** `why` explains the code in the document. `message` and `details` are an example of a response. */
const errorExplanations: Readonly<Record<ErrorCode, ErrorExplanation>> = {
  invalid_request: {
    why: 'The request is malformed. `details.fields` names the wrong fields, where known.',
    message: 'The body is invalid: currency is required',
    details: field('currency', 'is required'),
  },
  invalid_signature: { why: 'The signature is not from the provider.', message: 'The signature is invalid' },
  unauthenticated: {
    why: 'The request has no valid credential.',
    message: 'A credential is required',
  },
  payment_declined: {
    why: 'The provider declined. When a payment was declined, it has failed and `details.payment_id` is its id.',
    message: 'The card was declined',
    details: { payment_id: id },
  },
  forbidden: {
    why: 'The caller may not do this. `details.right` is the right that is missing; with `details.limit_cents` the refund is larger than the caller may make.',
    message: 'The right refund is required',
    details: { right: 'refund' },
  },
  not_found: {
    why: 'The caller can see no resource with this id.',
    message: 'No payment with this id',
  },
  method_not_allowed: {
    why: 'The path has other methods; `Allow` names them.',
    message: 'The method PATCH is not allowed here; this path has GET, HEAD, POST',
  },
  idempotency_key_in_flight: {
    why: 'The first request with this Idempotency-Key is still in progress. Try again.',
    message: 'The first request with this key is still in progress',
  },
  concurrent_modification: {
    why: 'Concurrent requests kept changing the same resource. Try again.',
    message: 'It was changed at the same time; try again',
  },
  job_running: {
    why: 'The same work, or as much other work as is allowed, is already in progress.',
    message: 'Another process is rebuilding payments',
  },
  payment_not_cancelable: {
    why: 'The payment can no longer be canceled: it has succeeded, is being processed, or the payer was faster. `details.status` is its status.',
    message: 'A payment that is succeeded cannot be canceled',
    details: { payment_id: id, status: 'succeeded' },
  },
  payment_not_capturable: {
    why: 'Nothing is authorized that could be captured, or a capture has started. `details.status` is the status of the payment.',
    message: 'Nothing is authorized that could be captured',
    details: { payment_id: id, status: 'succeeded' },
  },
  payment_not_refundable: {
    why: 'The payment has received no money, or the provider cannot refund it yet; then `details.settles_at` says when it can.',
    message: 'The payment has received no money',
    details: { status: 'pending' },
  },
  precondition_failed: {
    why: 'The resource has changed since the client read it. `details.etag` is its current ETag.',
    message: 'The resource has changed; read it again',
    details: { etag: '"3"' },
  },
  body_too_large: {
    why: 'The body is larger than 256 KiB (32 KiB for webhook tests, 1 MiB for provider notifications).',
    message: 'The body is too large',
  },
  unsupported_media_type: {
    why: 'The body is not sent as `application/json`.',
    message: 'The body must be sent as application/json',
  },
  amount_inconsistent: {
    why: 'The amounts do not add up. `details` contains them.',
    message: 'total_cents must equal subtotal_cents + tax_cents - discount_cents',
    details: { subtotal_cents: 1000, tax_cents: 190, discount_cents: 0, total_cents: 1200 },
  },
  card_number_rejected: {
    why: 'The body contains a card number or security code. Nothing of it was stored. `details.fields` names the fields.',
    message: 'The request contains a card number or security code; send a provider token instead',
    details: field('metadata.note', 'must not hold a card number'),
  },
  provider_not_enabled: {
    why: 'The provider is unknown, not enabled, or cannot do this. `details.enabled` or `details.known` lists those that can.',
    message: 'This provider is unknown or not enabled',
    details: { enabled: ['sandbox'] },
  },
  currency_not_supported: {
    why: 'The provider does not accept this amount in this currency.',
    message: 'The provider does not support this currency',
  },
  currency_mismatch: {
    why: 'The currency is not that of the payment, which is `details.currency`. Nothing was done.',
    message: 'The payment is in EUR',
    details: { currency: 'EUR' },
  },
  capture_method_not_supported: {
    why: 'The provider cannot authorize a payment and capture it later. `details.enabled` lists those that can.',
    message: 'example cannot authorize a payment and capture it later',
    details: { enabled: ['stripe'] },
  },
  capture_exceeds_authorization: {
    why: 'The amount is larger than what is authorized, which is `details.capturable_cents`.',
    message: 'The amount is larger than what is authorized',
    details: { capturable_cents: 2599 },
  },
  refund_exceeds_payment: {
    why: 'The amount is larger than what is left of the payment, which is `details.refundable_cents`. Pending refunds reserve their amount.',
    message: 'The refund is larger than what is left of the payment',
    details: { refundable_cents: 1000 },
  },
  reference_not_found: {
    why: 'The body refers to something that does not exist or belongs to another owner. `details.field` names the field.',
    message: 'There is no such address',
    details: { field: 'billing_address_id' },
  },
  recorded_payment_id: {
    why: 'A webhook test or simulation contains the id of a recorded payment, ours or the one of a provider. That needs the right `operate`.',
    message: 'A test must not contain the id of a payment; omit it, or use one that begins with test_',
  },
  provider_rejected: {
    why: 'The provider rejected the request. When a payment was rejected, it has failed and `details.payment_id` is its id.',
    message: 'The provider rejected the request',
    details: { payment_id: id },
  },
  idempotency_key_reused: {
    why: 'The Idempotency-Key was used with a different request before.',
    message: 'This Idempotency-Key was used with another request',
  },
  rate_limited: {
    why: 'The caller has sent too many requests. `Retry-After` is the number of seconds to wait.',
    message: 'Too many requests; try again later',
    details: { retry_after_seconds: 30 },
  },
  internal_error: { why: 'An error on our side.', message: 'Something went wrong on our side' },
  provider_unavailable: {
    why: 'The provider could not be reached and did nothing. The same request may be sent again.',
    message: 'The provider is not available',
    details: { payment_id: id },
  },
  identity_unavailable: {
    why: 'Credentials cannot be validated at the moment. Try again.',
    message: 'Credentials cannot be checked at the moment',
  },
  event_store_unavailable: {
    why: 'The event store cannot be reached, or elects a leader. What was to be recorded may be recorded. Try again after `Retry-After` seconds with the same Idempotency-Key.',
    message: 'The event store is not available at the moment',
  },
  service_unavailable: {
    why: 'The service is overloaded, or one of its backends is unavailable. Try again.',
    message: 'The service is not available at the moment',
  },
  provider_outcome_unknown: {
    why: 'The provider did not respond in time, so that the outcome is unknown. Repeat the request with the same Idempotency-Key to get it.',
    message: 'The provider did not respond; the outcome is not known yet',
    details: { payment_id: id },
  },
}

/** All codes, in the order of the table of codes. */
export const errorCodes = Object.keys(errorStatus).filter((code): code is ErrorCode => Object.hasOwn(errorStatus, code))

export const explanationOf = (code: ErrorCode): string => errorExplanations[code].why

const { success, error } = ErrorResponse.properties
const AnyCode = Type.Enum(errorCodes, { title: 'ErrorCode', type: 'string', description: 'Stable, for programs' })
const AnyErrorResponse = Type.Object(
  { success, error: Type.Object({ ...error.properties, code: AnyCode }, { title: 'Error' }) },
  { title: 'ErrorResponse' },
)

/** Of a schema that only narrows another one, which has the other fields. */
const open = { unevaluatedProperties: true }

/** The schema of an error response with one of these codes. */
export function errorSchema(codes: readonly ErrorCode[]) {
  const code = Type.Enum([...codes], { type: 'string' })
  return Type.Intersect([AnyErrorResponse, Type.Object({ error: Type.Object({ code }, open) }, open)])
}

/** An example response for each of these codes. */
export function errorExamples(codes: readonly ErrorCode[]) {
  return Object.fromEntries(
    codes.map((code) => {
      const { message, details } = errorExplanations[code]
      const error = { code, message, ...(details && { details }), request_id: '018f0000-0000-7000-8000-0000000000aa' }
      return [code, { summary: `${errorStatus[code]} ${code}`, value: { success: false, error } }]
    }),
  )
}
