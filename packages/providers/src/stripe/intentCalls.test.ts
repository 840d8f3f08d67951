// Canceling and capturing payment intents at Stripe.
import t from 'tap'
import type { CaptureAuthorized } from '../provider.ts'
import { refTo } from '../testing/requests.ts'
import { stripeResponding, withIntent, withPaid } from './testing/stripeHarness.ts'

const unknown = { name: 'ProviderError', kind: 'unknown' }
const cancelRequest = (id: string, number = 1) => ({ ...refTo(id), idempotency_key: `${id}-cancel-${number}` })
const captureRequest = (id: string, request: Partial<CaptureAuthorized> = {}): CaptureAuthorized => ({
  ...refTo(id),
  capture_method: 'manual',
  idempotency_key: `${id}-capture-1`,
  amount_cents: 2599,
  ...request,
})

t.test('Stripe: canceling a pending intent cancels it once, with the key', async (t) => {
  const { fake, stripe, id } = await withIntent(t)
  const canceled = { report: { status: 'canceled', provider_intent_id: id, provider_event_id: null } }
  t.match(await stripe.cancelIntent(cancelRequest(id)), canceled)
  t.same(fake.calls.at(-1), {
    method: 'POST',
    path: `/v1/payment_intents/${id}/cancel`,
    key: `${id}-cancel-1`,
    params: {},
  })
  t.match(await stripe.cancelIntent(cancelRequest(id)), canceled, 'repeated with the same key')
  t.match(await stripe.cancelIntent(cancelRequest(id, 2)), canceled, 'repeated with another key')
  t.equal(fake.events.filter(({ type }) => type === 'payment_intent.canceled').length, 1)
})

t.test('Stripe: an intent that can no longer be canceled stays as it is, and is returned', async (t) => {
  const { fake, stripe, id } = await withIntent(t)
  fake.pay(id, 'processing')
  t.match(await stripe.cancelIntent(cancelRequest(id)), { report: { status: 'processing', capturable_cents: 0 } })
  fake.pay(id, 'succeeded')
  t.match(await stripe.cancelIntent(cancelRequest(id, 2)), {
    report: { status: 'succeeded', amount_cents: 2599, provider_payment_id: fake.intent(id).latest_charge },
    refunds: [],
  })
  t.equal(await stripe.cancelIntent(cancelRequest('pi_missing')), null)
})

t.test('Stripe: canceling an authorized intent releases the money, which is no refund', async (t) => {
  const { fake, stripe, id } = await withPaid(t, { capture_method: 'manual' })
  t.match(await stripe.cancelIntent(cancelRequest(id)), { report: { status: 'canceled' } })
  t.equal(fake.refundsOf(id).length, 1)
  t.match(await stripe.retrieveIntent(refTo(id)), { report: { status: 'canceled' } })
  t.same((await stripe.retrieveIntent(refTo(id)))?.refunds, [])
  t.same(fake.balanceOf(id), { received: 0, refunded: 0, disputed: 0 })
})

t.test('Stripe: canceling fails when the status in the response is not canceled', async (t) => {
  const intent = { id: 'pi_1', amount: 2599, currency: 'eur', status: 'requires_payment_method' }
  const { stripe } = await stripeResponding(t, intent)
  await t.rejects(stripe.cancelIntent(cancelRequest('pi_1')), { ...unknown, code: 'not_canceled' })
  await t.rejects(stripe.captureAuthorized(captureRequest('pi_1')), { ...unknown, code: 'not_captured' })
})

t.test('Stripe: an authorized intent is processing and says what can be captured', async (t) => {
  const { stripe, id } = await withPaid(t, { capture_method: 'manual', amount_cents: 500, currency: 'JPY' })
  t.match(await stripe.retrieveIntent(refTo(id)), {
    report: { status: 'processing', amount_cents: 500, capturable_cents: 500, currency: 'JPY' },
  })
})

t.test('Stripe: capturing takes the whole amount, once', async (t) => {
  const { fake, stripe, id, chargeId } = await withPaid(t, { capture_method: 'manual' })
  const captured = { report: { status: 'succeeded', amount_cents: 2599, provider_payment_id: chargeId() } }
  t.match(await stripe.captureAuthorized(captureRequest(id)), captured)
  t.same(fake.calls.at(-1), {
    method: 'POST',
    path: `/v1/payment_intents/${id}/capture`,
    key: `${id}-capture-1`,
    params: { amount_to_capture: '2599' },
  })
  t.match(await stripe.captureAuthorized(captureRequest(id)), captured, 'repeated with the same key')
  const later = captureRequest(id, { idempotency_key: 'another' })
  t.match(await stripe.captureAuthorized(later), captured, 'repeated when the key has expired')
  t.equal(fake.ledger.charges.length, 1)
})

t.test('Stripe: a partial capture is a success of a part, and releases the rest', async (t) => {
  const { fake, stripe, id } = await withPaid(t, { capture_method: 'manual' })
  const snapshot = await stripe.captureAuthorized(captureRequest(id, { amount_cents: 2000 }))
  t.match(snapshot, { report: { status: 'succeeded', amount_cents: 2000 } })
  t.match(fake.refundsOf(id), [{ amount: 599 }])
  t.same((await stripe.retrieveIntent(refTo(id)))?.refunds, [], 'the released rest is no refund')
  fake.refund(id, 599)
  t.match((await stripe.retrieveIntent(refTo(id)))?.refunds, [{ amount_cents: 599, status: 'succeeded' }])
  t.same(fake.balanceOf(id), { received: 2000, refunded: 599, disputed: 0 })
})

t.test(
  'Stripe: a capture above what is authorized is rejected, one of a pending intent returns the intent',
  async (t) => {
    const { fake, stripe, id } = await withIntent(t, { capture_method: 'manual' })
    t.match(await stripe.captureAuthorized(captureRequest(id)), { report: { status: 'pending' } })
    fake.pay(id, 'succeeded')
    const tooLarge = captureRequest(id, { amount_cents: 2600, idempotency_key: 'larger' })
    await t.rejects(stripe.captureAuthorized(tooLarge), { kind: 'rejected', code: 'amount_too_large' })
    const fraction = captureRequest(id, { amount_cents: 5124, currency: 'KWD' })
    await t.rejects(stripe.captureAuthorized(fraction), { kind: 'currency', code: 'amount_not_writable' })
    await t.rejects(stripe.captureAuthorized(captureRequest('pi_missing')), {
      kind: 'rejected',
      code: 'resource_missing',
    })
    t.equal(fake.ledger.charges.length, 0)
  },
)
