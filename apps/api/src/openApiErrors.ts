// What the document says about each code of an error, with an example of what a client then gets.
import { type ErrorCode, errorStatus } from '@paylog/domain/errors'
import { ErrorResponse } from '@paylog/runtime/http/openApiSchemas'
import { Type } from 'typebox'

type ErrorExplanation = { readonly why: string; readonly message: string; readonly details?: object }

const id = '018f0000-0000-7000-8000-000000000001'
const field = (name: string, message: string) => ({ fields: [{ field: name, message }] })

/** `why` is for who reads the document; `message` and `details` are as they are answered. */
const errorExplanations: Readonly<Record<ErrorCode, ErrorExplanation>> = {
  invalid_request: {
    why: 'The request is malformed. `details.fields` names what is wrong, as far as it is known.',
    message: 'The body is invalid: currency is required',
    details: field('currency', 'is required'),
  },
  invalid_signature: { why: 'The signature is not the provider’s.', message: 'The signature is invalid' },
  unauthenticated: {
    why: 'There is no credential, or none that is valid.',
    message: 'A credential is required',
  },
  payment_declined: {
    why: 'The provider declined. Of a payment, `details.payment_id` names it; it has failed.',
    message: 'The card was declined',
    details: { payment_id: id },
  },
  forbidden: { why: 'The caller is known and may not do this.', message: 'This is for administrators only' },
  not_found: {
    why: 'There is nothing with this id that the caller may see.',
    message: 'No payment with this id',
  },
  method_not_allowed: {
    why: 'The path has other methods; `Allow` names them.',
    message: 'The method PATCH is not allowed here; this path has GET, HEAD, POST',
  },
  idempotency_key_in_flight: {
    why: 'The first request with this Idempotency-Key is still in progress; try again.',
    message: 'The first request with this key is still in progress',
  },
  concurrent_modification: {
    why: 'Others changed the same thing all the time; try again.',
    message: 'It was changed at the same time; try again',
  },
  precondition_failed: {
    why: 'It is not as the client has seen it. `details.etag` is its present ETag.',
    message: 'The resource has changed; read it again',
    details: { etag: '"3"' },
  },
  body_too_large: {
    why: 'The body is larger than 256 KiB; 32 KiB for tests of webhooks, 1 MiB at the receivers of provider webhooks.',
    message: 'The body is too large',
  },
  unsupported_media_type: {
    why: 'The body is not sent as `application/json`.',
    message: 'The body must be sent as application/json',
  },
  amount_inconsistent: {
    why: 'The parts of the amount do not add up. `details` has them.',
    message: 'total_cents must equal subtotal_cents + tax_cents - discount_cents',
    details: { subtotal_cents: 1000, tax_cents: 190, discount_cents: 0, total_cents: 1200 },
  },
  card_number_rejected: {
    why: 'The body holds the number or the security code of a card. Nothing of it was kept. `details.fields` names where it is.',
    message: 'The request contains a card number or security code; send a provider token instead',
    details: field('metadata.note', 'must not hold a card number'),
  },
  provider_not_enabled: {
    why: 'The provider is unknown, not enabled, or cannot do this. `details.enabled` or `details.known` has those that can.',
    message: 'This provider is unknown or not enabled',
    details: { enabled: ['sandbox'] },
  },
  currency_not_supported: {
    why: 'The provider does not take this amount in this currency.',
    message: 'The provider does not support this currency',
  },
  reference_not_found: {
    why: 'Something that the body names is not there, or not the caller’s. `details.field` says what.',
    message: 'There is no such address',
    details: { field: 'billing_address_id' },
  },
  recorded_payment_id: {
    why: 'A test or a simulation of webhooks names a payment, by our id or by one of a provider’s. Administrators may.',
    message: 'A test must not contain the id of a payment; omit it, or use one that begins with test_',
  },
  provider_rejected: {
    why: 'The provider refused the request. Of a payment, `details.payment_id` names it; it has failed.',
    message: 'The provider refused the request',
    details: { payment_id: id },
  },
  idempotency_key_reused: {
    why: 'The Idempotency-Key came with another request before.',
    message: 'This Idempotency-Key was used with another request',
  },
  rate_limited: {
    why: 'The caller has asked too often; `Retry-After` says for how many seconds to wait.',
    message: 'Too many requests; try again later',
    details: { retry_after_seconds: 30 },
  },
  internal_error: { why: 'Something went wrong here.', message: 'Something went wrong on our side' },
  provider_unavailable: {
    why: 'The provider could not be reached, and did nothing. The same request may be sent again.',
    message: 'The provider is not available',
    details: { payment_id: id },
  },
  identity_unavailable: {
    why: 'It cannot be found out at present whose the credential is; try again.',
    message: 'Credentials cannot be checked at the moment',
  },
  event_store_unavailable: {
    why: 'The log cannot be reached; try again, with the same Idempotency-Key.',
    message: 'The event store is not available at the moment',
  },
  service_unavailable: {
    why: 'The service is overloaded, or a part of it is away; try again.',
    message: 'The service is not available at the moment',
  },
  provider_outcome_unknown: {
    why: 'The provider did not answer in time, and nobody knows what it did. With the same Idempotency-Key it is found out.',
    message: 'The provider did not respond; the outcome is not known yet',
    details: { payment_id: id },
  },
}

export const explanationOf = (code: ErrorCode): string => errorExplanations[code].why

/** The schema of an error answer with one of these codes. */
export function errorSchema(codes: readonly ErrorCode[]) {
  const { success, error } = ErrorResponse.properties
  const code = Type.Enum([...codes], { type: 'string', description: 'Stable; made for programs' })
  return Type.Object({ success, error: Type.Object({ ...error.properties, code }) })
}

/** An example of the answer for each of these codes. */
export function errorExamples(codes: readonly ErrorCode[]) {
  return Object.fromEntries(
    codes.map((code) => {
      const { message, details } = errorExplanations[code]
      const error = { code, message, ...(details && { details }), request_id: '018f0000-0000-7000-8000-0000000000aa' }
      return [code, { summary: `${errorStatus[code]} ${code}`, value: { success: false, error } }]
    }),
  )
}
