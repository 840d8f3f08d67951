import { paymentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { ada, admin, grace, guest, guestEmail } from '../testing/commandApiHarness.ts'
import { paymentChangesHarness } from '../testing/paymentChangesHarness.ts'

const { fake, open, paid, authorized, change, typesOf, recordsNothing, lastPosition, store } =
  await paymentChangesHarness(t)

t.beforeEach(() => {
  fake.failures.clear()
  fake.before = undefined
})

const ofGuest = { guest_data: { email: guestEmail } }
const missing = '018f0000-0000-7000-8000-000000000000'

t.test('canceling a pending payment is 200 with the canceled payment, also when repeated', async (t) => {
  const id = await open()
  const canceled = await change(id, 'cancel', { reason: 'out of stock' }, ada)
  t.match(canceled, { status: 200, data: { id, status: 'canceled', completed_at: String } })
  t.equal(canceled.headers['x-event-position'], String(await lastPosition()))
  t.equal(fake.intentOf(id).status, 'canceled')
  const [, , requested] = await store.readStream(paymentStream(id))
  t.match(requested, { type: 'PaymentCancelRequested', data: { reason: 'out of stock', is_expiry: false } })
  const again = await recordsNothing(t, () => change(id, 'cancel', undefined, ada))
  t.match(again, { status: 200, data: canceled.data, headers: { etag: canceled.headers.etag } })
})

t.test('an authorized payment and a failed one that could still be paid are canceled', async (t) => {
  const held = await authorized()
  t.match(await change(held, 'cancel'), { status: 200, data: { status: 'canceled', amount_capturable_cents: 0 } })
  const failed = await open()
  fake.intentOf(failed).status = 'failed'
  t.match(await change(failed, 'refresh'), { data: { status: 'failed' } })
  t.match(await change(failed, 'cancel'), { status: 200, data: { status: 'canceled' } })
})

t.test('a payment that has succeeded, or whose payer is faster, is 409', async (t) => {
  const notCancelable = { status: 409, error: { code: 'payment_not_cancelable', details: { status: 'succeeded' } } }
  const succeeded = await paid()
  t.match(await recordsNothing(t, () => change(succeeded, 'cancel')), notCancelable)
  const id = await open()
  fake.before = async (verb) => verb === 'cancel' && fake.pay(id)
  const late = await change(id, 'cancel')
  t.match(late, notCancelable)
  t.equal(late.headers['x-event-position'], String(await lastPosition()))
  t.match(await change(id, 'refresh'), { data: { status: 'succeeded', amount_received_cents: 2599 } })
})

t.test('the owner and administrators cancel a payment, and for everybody else it is 404', async (t) => {
  const own = await open(ofGuest, guest)
  t.match(await change(own, 'cancel', {}, guest), { status: 200, data: { status: 'canceled' } })
  const anonymous = await open(ofGuest, {})
  t.equal((await change(anonymous, 'cancel', {}, guest)).status, 200, 'the guest of an anonymous payment')
  t.equal((await change(await open(), 'cancel', {}, admin)).status, 200)
  const adas = await open()
  for (const action of ['cancel', 'refresh'])
    await recordsNothing(t, async () => {
      const texts = new Set<string>()
      for (const [id, caller] of [
        [adas, grace],
        [adas, guest],
        [own, ada],
        [missing, ada],
        [missing, admin],
        ['no-id', ada],
      ] as const) {
        const { status, error } = await change(id, action, {}, caller)
        t.equal(status, 404, action)
        texts.add(`${error?.code} ${error?.message}`)
      }
      t.equal(texts.size, 1, 'the same response to all')
      for (const id of [adas, missing])
        t.match(await change(id, action, {}, {}), { status: 401, error: { code: 'unauthenticated' } })
    })
})

t.test("a guest who only reads a session's payment by guest_data gets 403", async (t) => {
  const id = await open(ofGuest, ada)
  for (const action of ['cancel', 'refresh'])
    t.match(await recordsNothing(t, () => change(id, action, {}, guest)), { status: 403, error: { code: 'forbidden' } })
})

t.test('a cancellation with an invalid body is 400', async (t) => {
  const id = await open()
  for (const body of [{ reason: 5 }, { reason: 'x'.repeat(501) }, [], '{'])
    t.match(await recordsNothing(t, () => change(id, 'cancel', body)), {
      status: 400,
      error: { code: 'invalid_request' },
    })
  t.match(await change(id, 'cancel', { reason: '4242424242424242' }), { error: { code: 'card_number_rejected' } })
  t.equal((await change(id, 'cancel', { reason: null })).status, 200)
})

t.test('with a stale If-Match nothing is canceled or captured, and it is 412 with the current ETag', async (t) => {
  const id = await authorized()
  for (const action of ['cancel', 'capture']) {
    const stale = await recordsNothing(t, () => change(id, action, {}, { ...admin, 'if-match': '"0"' }))
    t.match(stale, { status: 412, error: { code: 'precondition_failed', details: { etag: '"2"' } } })
  }
  t.equal((await change(id, 'cancel', {}, { ...admin, 'if-match': '"2"' })).status, 200)
})

t.test('a cancellation whose outcome is unknown is 504, and is finished by the next refresh or cancel', async (t) => {
  for (const [done, action] of [
    [true, 'cancel'],
    [false, 'cancel'],
    [false, 'refresh'],
  ] as const) {
    const id = await open()
    fake.failNext('cancel', { kind: 'unknown', done })
    const lost = await change(id, 'cancel')
    t.match(lost, { status: 504, error: { code: 'provider_outcome_unknown', details: { payment_id: id } } })
    t.equal(lost.headers['x-event-position'], String(await lastPosition()))
    t.match(await change(id, action), { status: 200, data: { status: 'canceled' } })
  }
})

t.test('a cancellation that does not reach the provider is 502, and can be repeated', async (t) => {
  const id = await open()
  fake.failNext('cancel', { kind: 'unavailable' })
  t.match(await change(id, 'cancel'), { status: 502, error: { code: 'provider_unavailable' } })
  t.match(await change(id, 'cancel'), { status: 200, data: { status: 'canceled' } })
  t.notOk((await typesOf(id)).includes('PaymentAttemptFailed'))
})
