import t from 'tap'
import { admin, freshKey } from '../testing/commandApiHarness.ts'
import { paymentChangesHarness } from '../testing/paymentChangesHarness.ts'

const { fake, intentOf, open, paid, authorized, refund, change, recordsNothing, lastPosition } =
  await paymentChangesHarness(t)

t.test('a refund without an amount is 201 and gives back the whole rest', async (t) => {
  const id = await paid()
  const part = await refund(id, { amount_cents: 599, reason: 'duplicate', note: 'twice' })
  t.match(part, {
    status: 201,
    data: {
      payment_id: id,
      amount_cents: 599,
      currency: 'EUR',
      status: 'succeeded',
      reason: 'duplicate',
      note: 'twice',
      provider_refund_id: /^re_/,
      failure_code: null,
    },
  })
  t.match(part.headers, { 'x-event-position': String(await lastPosition()), etag: /^"\d+"$/ })
  const rest = await refund(id)
  t.match(rest, { status: 201, data: { amount_cents: 2000, reason: 'other', note: null } })
  const { data } = await change(id, 'refresh')
  t.match(data, { status: 'succeeded', amount_received_cents: 2599, amount_refunded_cents: 2599 })
})

t.test('a refund with an invalid body is 400, and nothing is recorded', async (t) => {
  const id = await paid()
  const wrong = [
    ...[0, -1, 1.5, '100', null, true, 1_000_000_000_000].map((amount_cents) => ({ amount_cents })),
    ...['total_cents', 'amount', 'amountCents', 'Amount_cents', 'refund_amount', 'value'].map((name) => ({
      [name]: 1,
    })),
    ...[{ currency: 'EURO' }, { currency: 5 }],
    ...[{ reason: 'because' }, { reason: 5 }, { note: 'x'.repeat(501) }, { note: 5 }, [], 'null', '{'],
  ]
  for (const body of wrong) {
    const { status, error } = await recordsNothing(t, () => refund(id, body))
    t.match({ status, error }, { status: 400, error: { code: 'invalid_request' } }, JSON.stringify(body))
  }
  const card = await recordsNothing(t, () => refund(id, { note: '4242 4242 4242 4242' }))
  t.match(card, { status: 422, error: { code: 'card_number_rejected' } })
  t.equal((await refund(id, { note: 'x'.repeat(500) })).status, 201)
})

t.test('a refund or capture in another currency is 422, and not even audited [10.2-currency-mismatch]', async (t) => {
  for (const [id, action] of [
    [await paid(), 'refunds'],
    [await authorized(), 'capture'],
  ] as const) {
    const before = [fake.calls.length, await lastPosition()]
    t.match(await change(id, action, { amount_cents: 100, currency: 'usd' }), {
      status: 422,
      error: { code: 'currency_mismatch', details: { currency: 'EUR' } },
    })
    t.same([fake.calls.length, await lastPosition()], before)
    t.ok((await change(id, action, { amount_cents: 100, currency: 'eur' })).status < 300)
  }
})

t.test('a refund of more than is left is 422 with what is left', async (t) => {
  const id = await paid()
  const tooMuch = (refundable_cents: number) => ({
    status: 422,
    error: { code: 'refund_exceeds_payment', details: { refundable_cents } },
  })
  t.match(await recordsNothing(t, () => refund(id, { amount_cents: 2600 })), tooMuch(2599))
  t.equal((await refund(id, { amount_cents: 2000 })).status, 201)
  t.match(await recordsNothing(t, () => refund(id, { amount_cents: 600 })), tooMuch(599))
  t.equal((await refund(id, { amount_cents: 599 })).status, 201)
  t.match(await recordsNothing(t, () => refund(id)), tooMuch(0))
})

t.test('a refund that the provider cannot express is 422, before anything is recorded or asked', async (t) => {
  const id = await paid({ currency: 'KWD', total_cents: 20_000 })
  fake.calls.length = 0
  t.match(await recordsNothing(t, () => refund(id, { amount_cents: 1005 })), {
    status: 422,
    error: { code: 'currency_not_supported' },
  })
  t.same(fake.calls, [])
  t.equal((await refund(id, { amount_cents: 1010 })).status, 201)
})

t.test('a refund of a payment that received nothing is 409', async (t) => {
  t.match(await refund(await open()), {
    status: 409,
    error: { code: 'payment_not_refundable', details: { status: 'pending' } },
  })
})

t.test('a repeated refund with the same key gets the same refund, and another body is 422', async (t) => {
  const id = await paid()
  const headers = { ...admin, ...freshKey() }
  const first = await refund(id, { amount_cents: 100 }, headers)
  t.equal(first.headers['idempotent-replayed'], undefined)
  const again = await recordsNothing(t, () => refund(id, { amount_cents: 100 }, headers))
  t.match(again, { status: 201, text: first.text, headers: { 'idempotent-replayed': 'true' } })
  t.equal(again.headers['x-event-position'], first.headers['x-event-position'])
  for (const body of [{ amount_cents: 200 }, {}, { amount_cents: 100, note: 'other' }]) {
    const other = await recordsNothing(t, () => refund(id, body, headers))
    t.match(other, { status: 422, error: { code: 'idempotency_key_reused' } })
  }
  const elsewhere = await refund(await paid(), { amount_cents: 100 }, headers)
  t.equal(elsewhere.status, 201)
  t.not(elsewhere.data.id, first.data.id, 'the key belongs to the payment')
})

t.test('concurrent refunds with one key make one refund', async (t) => {
  const id = await paid()
  const headers = { ...admin, ...freshKey() }
  const all = await Promise.all(Array.from({ length: 5 }, () => refund(id, { amount_cents: 100 }, headers)))
  for (const { status, error } of all)
    if (status !== 201) t.match({ status, error }, { status: 409, error: { code: 'idempotency_key_in_flight' } })
  t.equal(intentOf(id).refunds.length, 1)
  t.match(await refund(id, { amount_cents: 100 }, headers), { status: 201 })
})

t.test('a refund whose outcome is unknown is 504, keeps its amount, and is found by the same key', async (t) => {
  for (const done of [true, false]) {
    const id = await paid()
    const headers = { ...admin, ...freshKey() }
    fake.failures.set('refund', [{ kind: 'unknown', done }])
    const lost = await refund(id, {}, headers)
    t.match(lost, {
      status: 504,
      error: { code: 'provider_outcome_unknown', details: { payment_id: id, refund_id: String } },
      headers: { 'x-event-position': String(await lastPosition()) },
    })
    t.match(await refund(id, { amount_cents: 1 }), { status: 422, error: { code: 'refund_exceeds_payment' } })
    const found = await refund(id, {}, headers)
    t.match(found, { status: 201, data: { amount_cents: 2599, status: 'succeeded' } })
    t.match(lost.error?.details, { refund_id: found.data.id })
    t.equal(intentOf(id).refunds.length, 1, 'the provider made one refund')
  }
})

t.test('a refund that the provider rejects or declines has its code, and frees its amount', async (t) => {
  const id = await paid()
  for (const [kind, status, code] of [
    ['rejected', 422, 'provider_rejected'],
    ['declined', 402, 'payment_declined'],
    ['unavailable', 502, 'provider_unavailable'],
  ] as const) {
    fake.failures.set('refund', [{ kind }])
    const headers = { ...admin, ...freshKey() }
    const rejected = await refund(id, {}, headers)
    t.match(rejected, { status, error: { code, details: { payment_id: id, refund_id: String } } })
    t.match(rejected.headers, { 'x-event-position': String(await lastPosition()) })
    if (kind === 'unavailable') continue
    const again = await recordsNothing(t, () => refund(id, {}, headers))
    t.same([again.status, again.error?.code], [status, code], 'repeated')
  }
  t.match(await refund(id), { status: 201, data: { amount_cents: 2599 } })
})

const support = { 'x-session-id': 'demo-support-session' }
const overLimit = (limit_cents: number) => ({
  status: 403,
  error: { code: 'forbidden', details: { right: 'refund', limit_cents } },
})

t.test(
  'a refund over the limit is 403 in minor units of the currency, and not even audited [10.2-refund-limit]',
  async (t) => {
    for (const [currency, limit_cents, more] of [
      ['EUR', 50_000, 1],
      ['JPY', 500, 1],
      ['KWD', 500_000, 10],
    ] as const) {
      const id = await paid({ currency, total_cents: 2 * limit_cents + more })
      const before = await lastPosition()
      for (const body of [{ amount_cents: limit_cents + more }, {}, undefined])
        t.match(await refund(id, body, support), overLimit(limit_cents), `${currency} ${JSON.stringify(body)}`)
      t.equal(await lastPosition(), before)
      t.match(await refund(id, { amount_cents: limit_cents }, support), { status: 201 }, 'n of 2 n + 1')
      t.match(await refund(id, {}, support), overLimit(limit_cents), 'the rest is n + 1')
      t.match(await refund(id, { amount_cents: more }), { status: 201 }, 'without a limit')
      t.match(await refund(id, {}, support), { status: 201, data: { amount_cents: limit_cents } }, 'the rest is n')
    }
  },
)

t.test('capture and cancellation have no limit', async (t) => {
  const body = { total_cents: 90_000 }
  t.match(await change(await authorized(body), 'capture', {}, support), { status: 200, data: { status: 'succeeded' } })
  t.match(await change(await open(body), 'cancel', undefined, support), { status: 200, data: { status: 'canceled' } })
})

t.test('a refund within the limit is replayed by its key [10.2-refund-limit]', async (t) => {
  const id = await paid({ total_cents: 120_000 })
  const headers = { ...support, ...freshKey() }
  t.match(await refund(id, { amount_cents: 80_000 }), { status: 201 })
  const first = await refund(id, {}, headers)
  t.match(first, { status: 201, data: { amount_cents: 40_000 } })
  t.match(await recordsNothing(t, () => refund(id, {}, headers)), { status: 201, text: first.text })
  const larger = await recordsNothing(t, () => refund(id, { amount_cents: 50_001 }, headers))
  t.match(larger, { status: 422, error: { code: 'idempotency_key_reused' } })
})
