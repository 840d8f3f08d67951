import t from 'tap'
import { actorName } from './actor.ts'
import { DomainError, errorStatus } from './errors.ts'
import { noRights } from './rights.ts'

t.test('a DomainError has the status of its code, its details and its cause', async (t) => {
  const cause = new Error('inside')
  const error = new DomainError('currency_not_supported', 'no', { currency: 'JPY' }, { cause })
  t.match(error, { code: 'currency_not_supported', status: 422, details: { currency: 'JPY' }, cause })
  t.equal(new DomainError('provider_outcome_unknown', '').status, errorStatus.provider_outcome_unknown)
})

t.test('the error codes and their statuses are exactly those of the contract [7-codes]', async (t) => {
  t.same(errorStatus, {
    ...{ invalid_request: 400, invalid_signature: 400, unauthenticated: 401, payment_declined: 402, forbidden: 403 },
    ...{
      not_found: 404,
      method_not_allowed: 405,
      idempotency_key_in_flight: 409,
      concurrent_modification: 409,
      job_running: 409,
      precondition_failed: 412,
    },
    ...{ payment_not_cancelable: 409, payment_not_capturable: 409, payment_not_refundable: 409 },
    ...{ capture_method_not_supported: 422, capture_exceeds_authorization: 422, refund_exceeds_payment: 422 },
    ...{ body_too_large: 413, unsupported_media_type: 415, amount_inconsistent: 422, card_number_rejected: 422 },
    ...{
      provider_not_enabled: 422,
      currency_mismatch: 422,
      currency_not_supported: 422,
      reference_not_found: 422,
      recorded_payment_id: 422,
      provider_rejected: 422,
    },
    ...{ idempotency_key_reused: 422, rate_limited: 429, internal_error: 500, provider_unavailable: 502 },
    ...{ identity_unavailable: 503, event_store_unavailable: 503, service_unavailable: 503 },
    provider_outcome_unknown: 504,
  })
})

t.test('an actor name contains neither e-mail nor credential', async (t) => {
  const session = { user_id: 'u1', user_type: 'customer', user_email: 'ann@example.com', ...noRights }
  t.equal(actorName({ kind: 'session', ...session }), 'session:u1')
  t.equal(actorName({ kind: 'guest', guest_email: 'ann@example.com', token_hash: 'f00d' }), 'guest')
  t.equal(actorName({ kind: 'anonymous' }), 'anonymous')
})
