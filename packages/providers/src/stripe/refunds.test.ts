// Refunding charges at Stripe, and reading the refunds of a payment.
import t from 'tap'
import type { ReportedRefund } from '../provider.ts'
import { payment_id, refTo, refund_id } from '../testing/requests.ts'
import { refundRequest, stripeHarness, stripeResponding, withIntent, withPaid } from './testing/stripeHarness.ts'

t.test('Stripe: a refund names the charge, our ids and the reason, and has our key', async (t) => {
  const { fake, stripe, id, chargeId } = await withPaid(t)
  const request = refundRequest(id, { provider_payment_id: chargeId() })
  const refunded = await stripe.refund(request)
  t.same(fake.calls.at(-1), {
    method: 'POST',
    path: '/v1/refunds',
    key: refund_id,
    params: {
      charge: chargeId(),
      amount: '599',
      'metadata[payment_id]': payment_id,
      'metadata[refund_id]': refund_id,
      reason: 'requested_by_customer',
    },
  })
  const [made] = fake.refundsOf(id)
  t.match(refunded, {
    refund_id,
    provider_refund_id: made?.id,
    amount_cents: 599,
    status: 'succeeded',
    reason: 'requested_by_customer',
    provider_event_id: null,
    provider_intent_id: id,
    provider_payment_id: chargeId(),
  })
  t.same(await stripe.refund(request), { ...refunded, provider_time: refunded.provider_time }, 'the same key')
  t.same(fake.balanceOf(id), { received: 2599, refunded: 599, disputed: 0 })
})

t.test('Stripe: a refund of an unnamed charge names the intent, and reason other is not sent', async (t) => {
  const { fake, stripe, id } = await withPaid(t)
  for (const [number, provider_payment_id] of [null, 'any text'].entries()) {
    const request = { provider_payment_id, idempotency_key: `k${number}`, reason: 'other' } as const
    t.match(await stripe.refund(refundRequest(id, request)), { status: 'succeeded', reason: 'other' })
    const { params } = fake.calls.at(-1) ?? {}
    t.match(params, { payment_intent: id })
    t.notOk('charge' in (params ?? {}) || 'reason' in (params ?? {}))
  }
})

t.test(
  'Stripe: a refund in a currency without decimals, or that Stripe writes otherwise, has the right amount',
  async (t) => {
    const currencies = [
      { currency: 'JPY', amount_cents: 599, sent: '599' },
      { currency: 'ISK', amount_cents: 599, sent: '59900' },
      { currency: 'KWD', amount_cents: 5990, sent: '5990' },
    ] as const
    for (const { currency, amount_cents, sent } of currencies) {
      const { fake, stripe, id } = await withPaid(t, { currency, amount_cents: 25990 })
      const refunded = await stripe.refund(refundRequest(id, { currency, amount_cents }))
      t.equal(fake.calls.at(-1)?.params.amount, sent, currency)
      t.equal(refunded.amount_cents, amount_cents)
      t.match((await stripe.retrieveIntent(refTo(id)))?.refunds, [{ amount_cents: amount_cents }])
    }
    const { fake, stripe } = await stripeHarness(t)
    const fraction = refundRequest('pi_1', { currency: 'KWD', amount_cents: 5991 })
    await t.rejects(stripe.refund(fraction), { kind: 'currency', code: 'amount_not_writable' })
    t.equal(fake.calls.length, 0, 'nothing is sent')
  },
)

t.test('Stripe: a refund that is not possible is rejected', async (t) => {
  const { fake, stripe, id } = await withIntent(t)
  const rejected = (what: string, code: string, amount_cents = 599) =>
    t.rejects(
      stripe.refund(refundRequest(id, { amount_cents, idempotency_key: what })),
      { name: 'ProviderError', kind: 'rejected', code, message: 'The provider rejected the request' },
      what,
    )
  await rejected('unpaid', 'invalid_request_error')
  fake.pay(id, 'succeeded')
  await rejected('too much', 'invalid_request_error', 2600)
  fake.failNext({ status: 400, error: { type: 'invalid_request_error', code: 'amount_too_large', message: 'x' } })
  await rejected('too large', 'amount_too_large')
  fake.failNext({ status: 400, error: { type: 'invalid_request_error', code: 'balance_insufficient', message: 'x' } })
  await rejected('too little balance', 'balance_insufficient')
  fake.dispute(id)
  await rejected('disputed', 'charge_disputed')
  const other = await withPaid(t)
  other.fake.refund(other.id)
  const again = other.stripe.refund(refundRequest(other.id))
  await t.rejects(again, { kind: 'rejected', code: 'charge_already_refunded' })
  await t.rejects(other.stripe.refund(refundRequest('pi_missing', { idempotency_key: 'missing' })), {
    kind: 'rejected',
    code: 'resource_missing',
  })
})

t.test('Stripe: a refund response about another refund or amount is unknown', async (t) => {
  const { stripe, respond } = await stripeResponding(t)
  const made = { id: 're_1', amount: 599, currency: 'eur', status: 'succeeded', payment_intent: 'pi_1', charge: 'ch_1' }
  respond(made)
  t.match(await stripe.refund(refundRequest('pi_1')), { refund_id, provider_refund_id: 're_1' }, 'without metadata')
  const others: readonly [object | null, string][] = [
    [{ ...made, amount: 600 }, 'another_refund'],
    [{ ...made, payment_intent: 'pi_2' }, 'another_refund'],
    [{ ...made, metadata: { refund_id: payment_id } }, 'another_refund'],
    [{ ...made, status: 'lost' }, 'another_status'],
    [{ ...made, status: null }, 'another_status'],
    [{ ...made, id: 're_\n1' }, 'unreadable_answer'],
    [{ ...made, amount: '599' }, 'unreadable_answer'],
    [{}, 'unreadable_answer'],
    [null, 'unreadable_answer'],
  ]
  for (const [other, code] of others) {
    respond(other)
    const refunded = stripe.refund(refundRequest('pi_1'))
    await t.rejects(refunded, { name: 'ProviderError', kind: 'unknown', code }, JSON.stringify(other))
  }
})

t.test('Stripe: a repeated refund call finds the refund of the first one, also when its key has expired', async (t) => {
  let now = new Date('2026-01-01T12:00:00.000Z')
  const { fake, stripe, id } = await withPaid(t, {}, { now: () => now })
  const first = await stripe.refund(refundRequest(id))
  for (let count = 0; count < 12; count++) fake.refund(id, 1)
  now = new Date('2026-01-03T12:00:00.000Z')
  const again = await stripe.refund(refundRequest(id, { is_repeated: true }))
  t.equal(again.provider_refund_id, first.provider_refund_id)
  const other = await stripe.refund(refundRequest(id, { is_repeated: true, refund_id: payment_id }))
  t.not(other.provider_refund_id, first.provider_refund_id, 'one that was not made is made')
  t.same(fake.balanceOf(id).refunded, 599 + 12 + 599)
})

t.test('Stripe: the snapshot has all refunds of the payment, ours with our id', async (t) => {
  const { fake, stripe, id, chargeId } = await withPaid(t)
  t.same((await stripe.retrieveIntent(refTo(id)))?.refunds, [])
  await stripe.refund(refundRequest(id))
  const [dashboard] = fake.refund(id, 100)
  fake.changeRefund(fake.refundsOf(id)[0]?.id ?? '', 'failed')
  const before = fake.calls.length
  const { refunds = [], report } = (await stripe.retrieveIntent(refTo(id))) ?? {}
  t.equal(fake.calls.length, before + 1, 'one call')
  t.match(report, { status: 'succeeded', provider_payment_id: chargeId() })
  t.match(refunds, [
    {
      refund_id: null,
      amount_cents: 100,
      status: 'failed',
      failure_code: 'expired_or_canceled_card',
      reason: 'other',
      provider_intent_id: id,
      provider_payment_id: chargeId(),
    },
    { refund_id, amount_cents: 599, status: 'succeeded', reason: 'requested_by_customer' },
  ])
  t.match(dashboard?.data.object, { id: refunds[0]?.provider_refund_id })
})

t.test('Stripe: more refunds than the snapshot holds are listed', async (t) => {
  const { fake, stripe, id } = await withPaid(t)
  for (let count = 0; count < 125; count++) fake.refund(id, 1)
  const before = fake.calls.length
  const { refunds = [] } = (await stripe.retrieveIntent(refTo(id))) ?? {}
  const ids = (all: readonly ReportedRefund[]) => all.map(({ provider_refund_id }) => provider_refund_id)
  t.same(
    ids(refunds),
    fake.refundsOf(id).map((refund) => refund.id),
  )
  t.equal(fake.calls.length, before + 3)
})

t.test('Stripe: a refund behind a 500 that is stored under its key is found by a repeated call', async (t) => {
  const { fake, stripe, id } = await withPaid(t)
  fake.failInside({ commits: true })
  await t.rejects(stripe.refund(refundRequest(id)), { kind: 'unknown', code: 'api_error' })
  t.match(await stripe.refund(refundRequest(id, { is_repeated: true })), { status: 'succeeded', refund_id })
  t.equal(fake.refundsOf(id).length, 1)
})
