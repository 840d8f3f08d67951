// The fake Stripe's refunds, captures and disputes, and the money that they leave.
import t from 'tap'
import { type FakeStripe, startFakeStripe } from './fakeStripe.ts'

type Body = {
  readonly id?: string
  readonly error?: Readonly<Record<string, unknown>>
  readonly [name: string]: unknown
}

async function send(fake: FakeStripe, path: string, form?: string, key?: string): Promise<[number, Body]> {
  const response = await fetch(`${fake.origin}/v1/${path}`, {
    method: form === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${fake.secretKey}`,
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(form === undefined ? {} : { body: form }),
  })
  return [response.status, JSON.parse(await response.text())]
}

const paid = (fake: FakeStripe, capture_method = 'automatic_async') => {
  const { id } = fake.openIntent({ amount: 2599, currency: 'eur', capture_method })
  fake.pay(id, 'succeeded')
  return { id, charge: fake.intent(id).latest_charge ?? '' }
}

t.test('fake Stripe: a refund takes money from the charge, once for a key', async (t) => {
  const fake = await startFakeStripe(t)
  const { id, charge } = paid(fake)
  const form = `charge=${charge}&amount=599&reason=duplicate&metadata[refund_id]=r1`
  const [status, refund] = await send(fake, 'refunds', form, 'k1')
  t.equal(status, 200)
  t.match(refund, { object: 'refund', amount: 599, charge, payment_intent: id, status: 'succeeded' })
  t.match(refund, { reason: 'duplicate', metadata: { refund_id: 'r1' } })
  t.same(await send(fake, 'refunds', form, 'k1'), [200, refund], 'replayed')
  t.same(fake.balanceOf(id), { received: 2599, refunded: 599, disputed: 0 })
  t.match(await send(fake, 'refunds', `payment_intent=${id}`), [200, { amount: 2000 }], 'the rest')
  t.match(await send(fake, 'refunds', `payment_intent=${id}`), [400, { error: { code: 'charge_already_refunded' } }])
  t.same(fake.balanceOf(id), { received: 2599, refunded: 2599, disputed: 0 })
  t.match(await send(fake, `charges/${charge}`), [200, { amount_refunded: 2599, refunded: true, refunds: undefined }])
  t.match(await send(fake, `refunds/${refund.id}`), [200, refund])
  t.match(await send(fake, 'refunds/re_missing'), [404, { error: { code: 'resource_missing' } }])
})

t.test('fake Stripe: an invalid refund request gets Stripe’s error', async (t) => {
  const fake = await startFakeStripe(t)
  const { id, charge } = paid(fake)
  const open = fake.openIntent({ amount: 2599, currency: 'eur' })
  const authorized = paid(fake, 'manual')
  const forms: readonly [string, object][] = [
    ['amount=1', { code: 'parameter_missing' }],
    [`charge=${charge}&payment_intent=${id}`, { code: 'parameter_missing' }],
    [`charge=${charge}&amount=0`, { param: 'amount' }],
    [`charge=${charge}&amount=-1`, { param: 'amount' }],
    [`charge=${charge}&amount=1.5`, { param: 'amount' }],
    [`charge=${charge}&amount=2600`, { param: 'amount' }],
    [`charge=${charge}&reason=other`, { param: 'reason' }],
    [`charge=${charge}&currency=eur`, { code: 'parameter_unknown' }],
    ['charge=ch_missing', { code: 'resource_missing', param: 'charge' }],
    ['payment_intent=pi_missing', { code: 'resource_missing', param: 'payment_intent' }],
    [`payment_intent=${open.id}`, {}],
    [`payment_intent=${authorized.id}`, {}],
  ]
  for (const [form, error] of forms) t.match(await send(fake, 'refunds', form), [400, { error }], form)
  fake.dispute(id)
  t.match(await send(fake, 'refunds', `charge=${charge}`), [400, { error: { code: 'charge_disputed' } }])
  t.same(fake.refundsOf(id), [])
})

t.test('fake Stripe: a refund may be pending, and fail after it had succeeded', async (t) => {
  const fake = await startFakeStripe(t)
  const { id } = paid(fake)
  fake.nextRefunds('pending')
  const [, { id: refundId = '' }] = await send(fake, 'refunds', `payment_intent=${id}&amount=599`)
  t.equal(fake.balanceOf(id).refunded, 0)
  t.match(await send(fake, 'refunds', `payment_intent=${id}&amount=2001`), [400, {}], 'its amount is reserved')
  t.match(fake.changeRefund(refundId, 'succeeded'), [{ type: 'refund.updated' }, { type: 'charge.refund.updated' }])
  t.equal(fake.balanceOf(id).refunded, 599)
  t.same(
    fake.changeRefund(refundId, 'failed').map(({ type }) => type),
    ['refund.updated', 'charge.refund.updated', 'refund.failed'],
  )
  t.match(await send(fake, `refunds/${refundId}`), [200, { failure_reason: 'expired_or_canceled_card' }])
  t.equal(fake.balanceOf(id).refunded, 0)
  t.match(await send(fake, 'refunds', `payment_intent=${id}`), [200, { amount: 2599 }], 'its amount is free again')
})

t.test('fake Stripe: refunds are listed newest first, page by page, and expanded in their charge', async (t) => {
  const fake = await startFakeStripe(t)
  const { id, charge } = paid(fake)
  paid(fake)
  for (let count = 0; count < 12; count++) fake.refund(id, 1)
  const ids = fake.refundsOf(id).map((refund) => ({ id: refund.id }))
  t.match(await send(fake, `refunds?charge=${charge}&limit=7`), [200, { data: ids.slice(0, 7), has_more: true }])
  const after = `refunds?payment_intent=${id}&limit=7&starting_after=${ids[6]?.id}`
  t.match(await send(fake, after), [200, { data: ids.slice(7), has_more: false }])
  t.match(await send(fake, `refunds?charge=${charge}&starting_after=re_missing`), [400, {}])
  const refunds = { object: 'list', data: ids.slice(0, 10), has_more: true }
  t.match(await send(fake, `charges/${charge}?expand[0]=refunds`), [200, { refunds }])
  const expanded = `payment_intents/${id}?expand[0]=latest_charge.refunds`
  t.match(await send(fake, expanded), [200, { latest_charge: { id: charge, refunds } }])
  t.match(await send(fake, `payment_intents/${id}?expand[0]=latest_charge`), [200, { latest_charge: { id: charge } }])
  t.match(await send(fake, `payment_intents/${id}?expand[0]=charges`), [400, {}])
})

t.test('fake Stripe: an authorized intent is captured in part or canceled, which releases the rest', async (t) => {
  const fake = await startFakeStripe(t)
  const [captured, canceled] = [paid(fake, 'manual'), paid(fake, 'manual')]
  t.match(fake.intent(captured.id), { status: 'requires_capture', amount_capturable: 2599, amount_received: 0 })
  t.same(fake.ledger.charges, [])
  const capture = (amount: number) =>
    send(fake, `payment_intents/${captured.id}/capture`, `amount_to_capture=${amount}`)
  t.match(await capture(2600), [400, { error: { code: 'amount_too_large' } }])
  t.match(await capture(0), [400, { error: { param: 'amount_to_capture' } }])
  t.match(await capture(2000), [200, { status: 'succeeded', amount_received: 2000, amount_capturable: 0 }])
  t.match(await capture(2000), [400, { error: { code: 'payment_intent_unexpected_state' } }])
  t.match(fake.ledger.charges, [{ amount_cents: 2000 }])
  t.match(fake.refundsOf(captured.id), [{ amount: 599 }])
  t.match(await send(fake, `payment_intents/${canceled.id}/cancel`, ''), [200, { status: 'canceled' }])
  t.match(fake.refundsOf(canceled.id), [{ amount: 2599 }])
  t.same(fake.balanceOf(captured.id), { received: 2000, refunded: 0, disputed: 0 })
  t.same(fake.balanceOf(canceled.id), { received: 0, refunded: 0, disputed: 0 })
})

t.test('fake Stripe: a dispute takes the money until it is won', async (t) => {
  const fake = await startFakeStripe(t)
  const { id } = paid(fake)
  const [opened] = fake.dispute(id)
  const disputeId = String(Reflect.get(opened?.data.object ?? {}, 'id'))
  t.match(await send(fake, `disputes/${disputeId}`), [200, { amount: 2599, status: 'needs_response' }])
  t.same(fake.balanceOf(id), { received: 2599, refunded: 0, disputed: 2599 })
  fake.closeDispute(disputeId, 'lost')
  t.equal(fake.balanceOf(id).disputed, 2599)
  fake.closeDispute(disputeId, 'won')
  t.equal(fake.balanceOf(id).disputed, 0)
})

t.test('fake Stripe: a thin event names the object of its snapshot event', async (t) => {
  const fake = await startFakeStripe(t)
  const event = fake.event('payment_intent.succeeded', { id: 'pi_1', object: 'payment_intent' }, { created: 7 })
  const thin = fake.thin(event)
  t.not(thin.id, event.id)
  t.match(thin, {
    object: 'v2.core.event',
    type: 'v1.payment_intent.succeeded',
    created: '1970-01-01T00:00:07.000Z',
    related_object: { id: 'pi_1', type: 'payment_intent', url: '/v1/payment_intents/pi_1' },
    snapshot_event: event.id,
  })
})
