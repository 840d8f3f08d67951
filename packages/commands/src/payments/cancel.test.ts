import { paymentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { ada, admin, guest, guestEmail } from '../testing/commandApiHarness.ts'
import { paymentChangesHarness } from '../testing/paymentChangesHarness.ts'

const { fake, intentOf, open, paid, authorized, change, recordsNothing, lastPosition, store } =
  await paymentChangesHarness(t)

const ofGuest = { guest_data: { email: guestEmail } }

t.test('canceling a pending payment is 200 with the canceled payment, also when repeated', async (t) => {
  const id = await open()
  const canceled = await change(id, 'cancel', { reason: 'out of stock' }, ada)
  t.match(canceled, { status: 200, data: { id, status: 'canceled', completed_at: String } })
  t.equal(canceled.headers['x-event-position'], String(await lastPosition()))
  t.equal(intentOf(id).status, 'canceled')
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

t.test('the owner, the guest of an anonymous payment, and administrators cancel a payment', async (t) => {
  t.match(await change(await open(ofGuest, guest), 'cancel', {}, guest), { status: 200, data: { status: 'canceled' } })
  t.equal((await change(await open(ofGuest, {}), 'cancel', {}, guest)).status, 200)
  t.equal((await change(await open(), 'cancel', {}, admin)).status, 200)
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
    fake.failures.set('cancel', [{ kind }])
    const lost = await change(id, 'cancel')
    t.match(lost, { status, error: { code, details: { payment_id: id } } })
    t.equal(lost.headers['x-event-position'], String(await lastPosition()))
    t.match(await change(id, 'cancel'), { status: 200, data: { status: 'canceled' } })
  }
})
