import t from 'tap'
import { paymentChangesHarness } from '../testing/paymentChangesHarness.ts'

const { fake, created, authorized, change, recordsNothing, lastPosition } = await paymentChangesHarness(t)

t.test('an authorized payment is processing, and capturing all of it succeeds', async (t) => {
  const id = await authorized()
  t.match(created.at(-1), { payment_id: id, capture_method: 'manual' })
  const { data } = await change(id, 'refresh')
  t.match(data, { status: 'processing', capture_method: 'manual', amount_capturable_cents: 2599 })
  const captured = await change(id, 'capture')
  t.match(captured, {
    status: 200,
    data: { status: 'succeeded', amount_cents: 2599, amount_received_cents: 2599, amount_capturable_cents: 0 },
    headers: { 'x-event-position': String(await lastPosition()), etag: String },
  })
  t.match(await recordsNothing(t, () => change(id, 'capture')), {
    status: 409,
    error: { code: 'payment_not_capturable', details: { status: 'succeeded' } },
  })
})

t.test('capturing a part leaves the total as it is, and more than is authorized is 422', async (t) => {
  const id = await authorized()
  t.match(await recordsNothing(t, () => change(id, 'capture', { amount_cents: 2600 })), {
    status: 422,
    error: { code: 'capture_exceeds_authorization', details: { capturable_cents: 2599 } },
  })
  t.match(await change(id, 'capture', { amount_cents: 1000 }), {
    status: 200,
    data: { status: 'succeeded', total_cents: 2599, amount_received_cents: 1000, amount_capturable_cents: 0 },
  })
})

t.test('a capture that the provider cannot express is 422, before anything is recorded or asked', async (t) => {
  const id = await authorized({ currency: 'KWD', total_cents: 20_000 })
  fake.calls.length = 0
  t.match(await recordsNothing(t, () => change(id, 'capture', { amount_cents: 1005 })), {
    status: 422,
    error: { code: 'currency_not_supported' },
  })
  t.same(fake.calls, [])
  t.equal((await change(id, 'capture', { amount_cents: 1010 })).status, 200)
})

t.test('a capture of a bad amount is 400', async (t) => {
  const id = await authorized()
  for (const body of [
    { amount_cents: 0 },
    { amount_cents: -1 },
    { amount_cents: 1.5 },
    { amount: 1 },
    { total_cents: 1 },
    [],
  ])
    t.match(await recordsNothing(t, () => change(id, 'capture', body)), {
      status: 400,
      error: { code: 'invalid_request' },
    })
})

t.test('a capture that the provider does not make has its code, and can be repeated until it is unknown', async (t) => {
  const id = await authorized()
  for (const [kind, status, code] of [
    ['declined', 402, 'payment_declined'],
    ['rejected', 422, 'provider_rejected'],
    ['unavailable', 502, 'provider_unavailable'],
    ['unknown', 504, 'provider_outcome_unknown'],
  ] as const) {
    fake.failures.set('capture', [{ kind }])
    const failed = await change(id, 'capture')
    t.match(failed, { status, error: { code, details: { payment_id: id } } })
    t.equal(failed.headers['x-event-position'], String(await lastPosition()))
  }
  t.match(await change(id, 'capture'), { status: 409, error: { code: 'payment_not_capturable' } }, 'it is still open')
})
