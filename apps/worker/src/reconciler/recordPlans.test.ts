import { positionAt } from '@paylog/testing/positionAt'
import { StaleCheckpointError } from '@paylog/webhooks/deliveries/subscriptions/checkpoint'
import { eventSamples, recordedEvent } from '@paylog/webhooks/testing/paymentFixture'
import t from 'tap'
import { event, followUpsHarness, hour, none, stream, tiedReport } from '../testing/followUpsHarness.ts'

const { payment_id } = eventSamples.PaymentInitiated
const { pool, emptyList } = await followUpsHarness(t)

t.test('the follow-up of a payment changes with its events', async (t) => {
  const list = await emptyList()
  await list.read(event('PaymentInitiated', 0))
  await list.has(t, [
    {
      ...{ subject: stream, provider_id: 'fake', payment_id, correlation_id: 'request-1' },
      ...{ finish: 30, ask: null, watch: null, pauses: 1 },
    },
  ])
  await list.read(event('ProviderCallFailed', 9))
  await list.has(t, [{ ...none, finish: 19 }])
  await list.read(event('ProviderIntentCreated', 20))
  await list.has(t, [{ ...none, watch: 20 + hour }])
  await list.read(event('PaymentActionRequired', 50))
  await list.has(t, [{ ...none, watch: 50 + hour }])
  await list.read(tiedReport(60))
  await list.has(t, [{ finish: null, ask: 60, watch: 50 + hour, pauses: 0 }])
  await list.read(event('RefundRecorded', 61))
  await list.has(t, [{ finish: null, ask: 60, watch: 50 + hour, pauses: 0 }])
  await list.read(event('PaymentSucceeded', 70))
  t.strictSame(await list.rows(), [])
})

t.test('a notification has a follow-up until it is applied', async (t) => {
  const list = await emptyList()
  const inbox = 'providerEvent-fake:evt_1'
  await list.read(event('ProviderEventReceived', 0, inbox))
  await list.has(t, [{ ...none, subject: inbox, payment_id: null, finish: 30 }])
  await list.read(event('ProviderEventApplied', 1, inbox))
  t.strictSame(await list.rows(), [])
})

t.test('a notification does not resolve an open create call', async (t) => {
  const list = await emptyList()
  await list.read(event('PaymentInitiated', 0), event('ProviderCallFailed', 1))
  await list.read(event('PaymentActionRequired', 2))
  await list.has(t, [{ finish: 11, ask: null, watch: 2 + hour }])
  await list.read(tiedReport(3), event('ProviderIntentCreated', 4))
  await list.has(t, [{ finish: null, ask: 3, watch: 4 + hour }], 'the end of the call does not resolve a tie')
})

t.test('a payment that is settled before its create call ends is finished all the same', async (t) => {
  const list = await emptyList()
  await list.read(event('PaymentInitiated', 0), event('ProviderCallFailed', 1), event('PaymentSucceeded', 2))
  await list.has(t, [{ ...none, finish: 11 }])
  await list.read(event('PaymentSucceeded', 3))
  await list.has(t, [{ ...none, finish: 11 }], 'in a separate batch')
  await list.read(event('PaymentActionRequired', 4), event('PaymentSucceeded', 5))
  await list.has(t, [{ ...none, finish: 11 }], 'the watch ends')
})

t.test('later events of a batch win within their stream', async (t) => {
  const list = await emptyList()
  await list.read(
    event('PaymentInitiated', 0, 'payment-1'),
    event('PaymentInitiated', 1, 'payment-2'),
    event('PaymentInitiated', 2, 'payment-3'),
    event('ProviderIntentCreated', 3, 'payment-2'),
    event('ProviderIntentCreated', 4, 'payment-1'),
    event('PaymentSucceeded', 4, 'payment-1'),
    tiedReport(5, 'payment-3'),
  )
  await list.has(t, [
    { ...none, subject: 'payment-2', watch: 3 + hour },
    { ...none, subject: 'payment-3', finish: 32, ask: 5 },
  ])
  const rejected = recordedEvent('ProviderCallFailed', {
    stream: 'payment-2',
    data: { call: 'create', outcome: 'rejected' },
  })
  await list.read(
    rejected,
    event('PaymentAttemptStarted', 6, 'payment-2'),
    event('ProviderIntentCreated', 7, 'payment-3'),
    event('PaymentCanceled', 7, 'payment-3'),
  )
  await list.has(t, [{ ...none, subject: 'payment-2', finish: 36 }], 'another attempt adds the follow-up again')
})

t.test('the follow-ups do not depend on batch sizes or on reading the log twice', async (t) => {
  const streams = ['payment-1', 'payment-2', 'payment-3']
  const types = [
    ...['PaymentInitiated', 'ProviderCallFailed', 'PaymentActionRequired', 'ProviderIntentCreated'],
    ...['PaymentProcessingStarted', 'PaymentAmountMismatch', 'PaymentAttemptFailed', 'PaymentAttemptStarted'],
  ] as const
  const history = types.flatMap((type, round) => streams.map((of, n) => event(type, round * 10 + n, of)))
  history.splice(12, 0, tiedReport(25, 'payment-2'), event('PaymentSucceeded', 26, 'payment-3'))
  const read = async (size: number) => {
    const list = await emptyList()
    for (let from = 0; from < history.length; from += size) await list.read(...history.slice(from, from + size))
    return list
  }
  const expected = await (await read(1)).rows()
  t.equal(expected.length, 3)
  for (const size of [2, 5]) t.strictSame(await (await read(size)).rows(), expected, `by ${size}`)
  const list = await read(history.length)
  t.strictSame(await list.rows(), expected, 'in one batch')
  await list.read(...history)
  t.strictSame(await list.rows(), expected, 'read again from the start')
})

t.test('follow-ups and checkpoint are updated together or not at all', async (t) => {
  const list = await emptyList()
  const standby = list.newReader()
  t.equal(await standby.start(), undefined)
  const first = event('PaymentInitiated', 0)
  await list.read(first)
  const second = event('PaymentInitiated', 1, 'payment-2')
  const batch = { events: [second], position: second.position }
  await t.rejects(standby.handle(batch), StaleCheckpointError, 'a stale reader changes nothing')
  t.equal((await list.rows()).length, 1)
  t.strictSame(await standby.start(), first.position)
  await standby.handle(batch)
  t.equal((await list.rows()).length, 2)
  await t.rejects(list.read(event('PaymentSucceeded', 2)), StaleCheckpointError)
  t.equal((await list.rows()).length, 2)
  await pool.query('alter table webhooks.follow_ups add constraint poison check (ask_at is null)')
  t.teardown(() => pool.query('alter table webhooks.follow_ups drop constraint poison'))
  await t.rejects(standby.handle({ events: [tiedReport(3, 'payment-3')], position: positionAt(999n) }))
  t.strictSame(await standby.start(), second.position, 'a rejected row leaves the checkpoint unchanged')
  await standby.handle({ events: [], position: positionAt(1000n) })
  t.strictSame(await standby.start(), positionAt(1000n), 'an empty batch moves only the checkpoint')
})

t.test('ids that Postgres rejects do not stop the subscription', async (t) => {
  const list = await emptyList()
  const odd = event('PaymentInitiated', 0)
  await list.read({ ...odd, metadata: { ...odd.metadata, correlationId: 'a\0b\ud800' } })
  await list.has(t, [{ correlation_id: 'a\ufffdb\ufffd' }])
})

t.test('the reconciler is woken only for follow-ups that are due at once', async (t) => {
  const list = await emptyList()
  await list.read(event('PaymentInitiated', 0), event('ProviderIntentCreated', 1))
  t.equal(list.woken.length, 0)
  await list.read(tiedReport(2))
  t.equal(list.woken.length, 1)
  const approved = { stream, data: { provider_id: 'captures' } }
  await list.read(recordedEvent('PaymentProcessingStarted', approved))
  t.equal(list.woken.length, 2)
})
