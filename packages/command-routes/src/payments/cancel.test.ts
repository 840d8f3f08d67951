import { paymentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { ada, admin, grace, guest, guestEmail } from '../testing/commandApiHarness.ts'
import { paymentChangesHarness } from '../testing/paymentChangesHarness.ts'

const { fake, open, paid, authorized, change, recordsNothing, lastPosition, store } = await paymentChangesHarness(t)

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

t.test('canceling a payment that has succeeded is 409', async (t) => {
  const notCancelable = { status: 409, error: { code: 'payment_not_cancelable', details: { status: 'succeeded' } } }
  const succeeded = await paid()
  t.match(await recordsNothing(t, () => change(succeeded, 'cancel')), notCancelable)
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

t.test('a cancellation that the provider does not confirm is 502 or 504, and can be repeated', async (t) => {
  for (const [kind, status, code] of [
    ['unavailable', 502, 'provider_unavailable'],
    ['unknown', 504, 'provider_outcome_unknown'],
  ] as const) {
    const id = await open()
    fake.failNext('cancel', { kind })
    const lost = await change(id, 'cancel')
    t.match(lost, { status, error: { code, details: { payment_id: id } } })
    t.equal(lost.headers['x-event-position'], String(await lastPosition()))
    t.match(await change(id, 'cancel'), { status: 200, data: { status: 'canceled' } })
  }
})
