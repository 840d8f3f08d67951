import t from 'tap'
import { ada, guest, guestEmail } from '../testing/commandApiHarness.ts'
import { paymentChangesHarness } from '../testing/paymentChangesHarness.ts'

const { fake, open, change, recordsNothing, lastPosition } = await paymentChangesHarness(t)

t.beforeEach(() => {
  fake.failures.clear()
  fake.calls.length = 0
  fake.before = undefined
})

t.test('refreshing a paid payment records and returns its new status', async (t) => {
  const id = await open()
  fake.pay(id)
  const refreshed = await change(id, 'refresh', undefined, ada)
  t.match(refreshed, { status: 200, data: { id, status: 'succeeded', amount_received_cents: 2599 } })
  t.equal(refreshed.headers['x-event-position'], String(await lastPosition()))
  t.match(refreshed.headers.etag, /^"\d+"$/)
})

t.test('a guest refreshes a payment, and again within 5 s gets the record', async (t) => {
  const id = await open({ guest_data: { email: guestEmail } }, guest)
  t.match(await change(id, 'refresh', undefined, guest), { status: 200, data: { status: 'pending' } })
  fake.pay(id)
  t.match(await recordsNothing(t, () => change(id, 'refresh')), { status: 200, data: { status: 'pending' } })
  t.equal(fake.calls.filter((verb) => verb === 'retrieve').length, 1)
})

t.test('a provider that cannot be asked is 502 or 504', async (t) => {
  for (const [kind, status, code] of [
    ['unavailable', 502, 'provider_unavailable'],
    ['unknown', 504, 'provider_outcome_unknown'],
  ] as const) {
    const id = await open()
    fake.failNext('retrieve', { kind })
    t.match(await change(id, 'refresh'), { status, error: { code, details: { payment_id: id } } })
  }
})

t.test('a hosted page that has expired is replaced by another intent', async (t) => {
  const id = await open()
  fake.intentOf(id).expired = true
  const { data } = await change(id, 'refresh')
  t.match(data, {
    status: 'pending',
    provider_intent_id: `pi_${id}-2`,
    redirect_url: `https://pay.example.com/pi_${id}-2`,
  })
  t.same(fake.calls, ['create', 'retrieve', 'create'])
})

t.test('a page that cannot be replaced because the provider fails is an error with its code', async (t) => {
  for (const [kind, status, code] of [
    ['rejected', 422, 'provider_rejected'],
    ['unavailable', 502, 'provider_unavailable'],
    ['unknown', 504, 'provider_outcome_unknown'],
  ] as const) {
    const id = await open()
    fake.intentOf(id).expired = true
    fake.failNext('create', { kind })
    const failed = await change(id, 'refresh')
    t.match(failed, { status, error: { code, details: { payment_id: id } } })
    t.equal(failed.headers['x-event-position'], String(await lastPosition()))
  }
})
