import { randomUUIDv7 } from 'node:crypto'
import { paymentStream, providerEventStream, providerIntentStream } from '@paylog/event-store/streamName'
import {
  type Provider,
  ProviderError,
  type ProviderNotification,
  type ProviderReport,
} from '@paylog/providers/provider'
import t from 'tap'
import type { Workflow } from './context.ts'
import { applyStoredNotification, receiveNotification } from './notifications.ts'
import { reconcilePayment } from './payments/reconcilePayment.ts'
import { createFakeProvider, type FakeIntent } from './testing/fakeProvider.ts'
import { crashAfter, metadata, workflowHarness } from './testing/workflowHarness.ts'

const { fake, provider: fakeProvider } = createFakeProvider(t)
/** The provider's `completeNotification`, set by a test. */
let complete: Provider['completeNotification'] = null
/** Its notifications are our ProviderNotification as unsigned JSON. */
const provider: Provider = {
  ...fakeProvider,
  async verifyNotification() {},
  readNotification: (body) => JSON.parse(body.toString('utf8')),
  completeNotification: async (notification) => (await complete?.(notification)) ?? notification,
}
const { workflow, store, providers, open, typesOf, advance: later, time } = await workflowHarness(t, provider)

t.beforeEach(() => {
  fake.failures.clear()
  complete = null
  providers.set(provider.id, provider)
  time.now = () => new Date()
})

let events = 0
function notification(report: Partial<ProviderReport> | null, more: Partial<ProviderNotification> = {}) {
  const provider_event_id = `evt_${events++}`
  const occurred_at = new Date().toISOString()
  const fullReport = {
    about: 'status',
    status: 'succeeded',
    provider_time: occurred_at,
    provider_event_id,
    provider_intent_id: null,
    provider_payment_id: null,
    amount_cents: 2599,
    currency: 'eur',
    ...report,
  }
  return {
    provider_event_id,
    provider_type: 'something.happened',
    generic_type: null,
    occurred_at,
    object_id: 'object',
    amount_cents: 2599,
    currency: 'EUR',
    status: 'done',
    customer_id: null,
    customer_email: null,
    referenced_payment_id: null,
    subscription: null,
    ...more,
    report: report === null ? null : fullReport,
  }
}
type NotificationFixture = ReturnType<typeof notification>

const bytes = (sent: NotificationFixture, padding = '') => Buffer.from(JSON.stringify({ ...sent, padding }))
const receive = (sent: NotificationFixture, on: Workflow = workflow, padding = '') =>
  receiveNotification(on, { provider, body: bytes(sent, padding), headers: {}, requestId: 'request' })
const inboxOf = ({ provider_event_id }: NotificationFixture) => providerEventStream(provider.id, provider_event_id)
const refundOf = (charge: string, refund_id: string) =>
  notification({ about: 'refund', provider_payment_id: charge, refund_id, refunded_cents: 100 })

async function opened(): Promise<{ id: string; intent: FakeIntent }> {
  const { payment_id: id } = await open()
  return { id, intent: fake.onlyOf(id) }
}
const historyOf = async (paymentId: string) => (await typesOf(paymentStream(paymentId))).slice(2)
const appliedEvents = ['ProviderEventReceived', 'ProviderEventApplied']

t.test('a notification that cannot be completed is stored and applied later', async (t) => {
  const { id, intent } = await opened()
  const sent = notification(null)
  complete = async () => {
    throw new ProviderError('unavailable', 'unreachable', 'The provider cannot be reached')
  }
  t.match((await receive(sent)).postponed, { code: 'unreachable' })
  t.same(await typesOf(inboxOf(sent)), ['ProviderEventReceived'])
  await t.rejects(applyStoredNotification(workflow, inboxOf(sent)), { code: 'unreachable' })
  complete = async (incomplete) => ({
    ...incomplete,
    report: notification({ provider_intent_id: intent.id, provider_payment_id: 'ch_1' }).report as ProviderReport,
  })
  t.equal(await applyStoredNotification(workflow, inboxOf(sent)), true)
  t.same(await typesOf(inboxOf(sent)), appliedEvents)
  t.same(await historyOf(id), ['PaymentSucceeded'])
  const [received, applied] = await store.readStream(inboxOf(sent))
  t.equal(applied?.metadata.causationId, received?.id)
  t.equal(applied?.metadata.correlationId, received?.metadata.correlationId)
  t.equal(applied?.metadata.actor, 'worker')
})

t.test('an applied notification is not applied again', async (t) => {
  const { id, intent } = await opened()
  const sent = notification({ status: 'failed', provider_intent_id: intent.id })
  await receive(sent)
  complete = () => Promise.reject(new Error('unexpected call'))
  t.equal(await applyStoredNotification(workflow, inboxOf(sent)), true)
  t.equal((await receive(sent)).postponed, undefined)
  t.same(await typesOf(inboxOf(sent)), appliedEvents)
  t.same(await historyOf(id), ['PaymentAttemptFailed'])
})

t.test('a long notification is stored compressed and can be applied', async (t) => {
  const { id, intent } = await opened()
  const sent = notification({ provider_intent_id: intent.id })
  complete = async () => {
    throw new ProviderError('unavailable', 'unreachable', 'The provider cannot be reached')
  }
  await receive(sent, workflow, '"ü\u{1f600}'.repeat(60_000))
  const [received] = await store.readStream(inboxOf(sent))
  t.match(received?.data, { body_encoding: 'gzip' })
  complete = null
  t.equal(await applyStoredNotification(workflow, inboxOf(sent)), true)
  t.same(await historyOf(id), ['PaymentSucceeded'])
})

t.test('a notification is applied once after a crash at any append', async (t) => {
  for (const appends of [1, 2, 3]) {
    const { id, intent } = await opened()
    const charge = fake.charge(intent)
    const sent = notification({ provider_intent_id: intent.id, provider_payment_id: charge })
    t.match((await receive(sent, crashAfter(appends, workflow))).postponed, { message: /died/ })
    t.same(await typesOf(inboxOf(sent)), ['ProviderEventReceived'], `${appends}`)
    await Promise.all([1, 2, 3].map(() => applyStoredNotification(workflow, inboxOf(sent))))
    t.same(await typesOf(inboxOf(sent)), appliedEvents)
    t.same(await historyOf(id), ['PaymentSucceeded'])
    t.same(await typesOf(providerIntentStream(provider.id, charge)), ['ProviderIntentOwned'])
  }
  const sent = notification(null)
  await t.rejects(receive(sent, crashAfter(0, workflow)), /died/)
  t.same(await typesOf(inboxOf(sent)), [], 'not stored, so not acknowledged')
})

t.test('a stored notification of a disabled provider is not applied until the provider is enabled', async (t) => {
  const sent = notification(null)
  await receive(sent, crashAfter(1, workflow))
  providers.clear()
  t.equal(await applyStoredNotification(workflow, inboxOf(sent)), false)
  t.same(await typesOf(inboxOf(sent)), ['ProviderEventReceived'])
  providers.set(provider.id, provider)
  t.equal(await applyStoredNotification(workflow, inboxOf(sent)), true)
  t.same(await typesOf(inboxOf(sent)), ['ProviderEventReceived', 'ProviderEventUnmatched'])
})

t.test('applying a notification from an unknown inbox does nothing', async (t) => {
  t.equal(await applyStoredNotification(workflow, providerEventStream(provider.id, 'never')), true)
})

t.test('a refund or dispute that names only the charge finds the payment', async (t) => {
  const { id, intent } = await opened()
  const charge = fake.charge(intent)
  const refund = refundOf(charge, 're_1')
  await receive(refund)
  t.same(
    await typesOf(inboxOf(refund)),
    ['ProviderEventReceived', 'ProviderEventUnmatched'],
    'unmatched while the charge is unknown',
  )
  await receive(notification({ provider_intent_id: intent.id, provider_payment_id: charge }))
  await receive(refundOf(charge, 're_2'))
  await receive(
    notification({
      about: 'dispute',
      provider_payment_id: charge,
      dispute_id: 'dp_1',
      dispute_status: 'lost',
      disputed_cents: 100,
    }),
  )
  t.same(await historyOf(id), ['PaymentSucceeded', 'PaymentRefundRecorded', 'PaymentDisputeRecorded'])
})

t.test('a refund that names only the charge finds a payment whose intent was unknown when it was paid', async (t) => {
  fake.failures.set('create', [{ kind: 'unknown', done: true }])
  const { payment_id: id } = await open()
  const intent = fake.onlyOf(id)
  const charge = fake.charge(intent)
  const paid = notification(
    { provider_intent_id: intent.id, provider_payment_id: charge },
    { referenced_payment_id: id },
  )
  await receive(paid)
  t.same(await typesOf(inboxOf(paid)), appliedEvents)
  t.match(await reconcilePayment(workflow, id, metadata), { payment: { status: 'succeeded' } })
  await receive(refundOf(charge, 're_1'))
  t.same(await historyOf(id), ['PaymentSucceeded', 'ProviderIntentCreated', 'PaymentRefundRecorded'])
})

t.test(
  'a refund that names only the charge finds a payment whose process crashed before recording the intent',
  async (t) => {
    const payment_id = randomUUIDv7()
    await t.rejects(open({ on: crashAfter(2, workflow), payment_id }), /died/)
    const intent = fake.onlyOf(payment_id)
    const charge = fake.charge(intent)
    await receive(notification({ provider_intent_id: intent.id, provider_payment_id: charge }))
    await receive(refundOf(charge, 're_1'))
    later(60_000)
    t.match(await reconcilePayment(workflow, payment_id, metadata), { payment: { status: 'succeeded' } })
    t.same((await typesOf(paymentStream(payment_id))).slice(1), [
      'PaymentSucceeded',
      'PaymentRefundRecorded',
      'ProviderIntentCreated',
    ])
  },
)

t.test('the charge of a foreign intent is not assigned to the payment that it names', async (t) => {
  const { id } = await opened()
  const foreign = notification(
    { provider_intent_id: 'pi_foreign', provider_payment_id: 'ch_foreign' },
    { referenced_payment_id: id },
  )
  await receive(foreign)
  t.same(await historyOf(id), ['ProviderEventIgnored'])
  t.same(await typesOf(providerIntentStream(provider.id, 'ch_foreign')), [])
  t.match((await store.readStream(inboxOf(foreign))).at(-1)?.data, { payment_id: id, is_foreign_intent: true })
  await receive(refundOf('ch_foreign', 're_1'))
  t.same(await historyOf(id), ['ProviderEventIgnored'])
})

t.test('the charge of an intent is not assigned to a payment whose create call was rejected', async (t) => {
  fake.failures.set('create', [{ kind: 'declined' }])
  const { payment_id: id } = await open()
  await receive(
    notification({ provider_intent_id: 'pi_later', provider_payment_id: 'ch_later' }, { referenced_payment_id: id }),
  )
  t.same(await historyOf(id), ['ProviderEventIgnored'])
  t.same(await typesOf(providerIntentStream(provider.id, 'ch_later')), [])
})

t.test('a notification is applied to the recorded owner of its intent after a rejected create call', async (t) => {
  const payment_id = randomUUIDv7()
  await t.rejects(open({ on: crashAfter(2, workflow), payment_id }), /died/)
  later(60_000)
  fake.failures.set('create', [{ kind: 'declined' }])
  t.match(await reconcilePayment(workflow, payment_id, metadata), { payment: { status: 'failed' } })
  const intent = fake.onlyOf(payment_id)
  await receive(notification({ provider_intent_id: intent.id, provider_payment_id: fake.charge(intent) }))
  t.same((await historyOf(payment_id)).slice(-1), ['PaymentSucceeded'])
})

t.test("a notification is applied to its intent's payment even if it names another payment", async (t) => {
  const [named, paid] = [await opened(), await opened()]
  await receive(notification({ provider_intent_id: paid.intent.id }, { referenced_payment_id: named.id }))
  t.same(await historyOf(named.id), [])
  t.same(await historyOf(paid.id), ['PaymentSucceeded'])
})

t.test("a notification is not applied to another provider's payment", async (t) => {
  const { id } = await opened()
  const other = { ...provider, id: 'other' }
  providers.set(other.id, other)
  const sent = notification({ provider_intent_id: null }, { referenced_payment_id: id })
  await receiveNotification(workflow, { provider: other, body: bytes(sent), headers: {}, requestId: 'request' })
  t.same(await typesOf(providerEventStream('other', sent.provider_event_id)), [
    'ProviderEventReceived',
    'ProviderEventUnmatched',
  ])
  t.same(await historyOf(id), [])
})

t.test('an unmatched notification is recorded with all of its fields', async (t) => {
  const subscription = {
    subscription_id: 'sub_1',
    current_period_end: '2026-12-01T00:00:00.000Z',
    status_changed: true,
    is_first_invoice: false,
  }
  const sent = notification(null, { subscription, customer_id: 'cus_1', customer_email: 'cus@example.com' })
  await receive(sent)
  const [, unmatched] = await store.readStream(inboxOf(sent))
  t.match(unmatched, {
    type: 'ProviderEventUnmatched',
    data: {
      provider_event_id: sent.provider_event_id,
      provider_type: 'something.happened',
      object_id: 'object',
      amount_cents: 2599,
      currency: 'EUR',
      status: 'done',
      customer_id: 'cus_1',
      customer_email: 'cus@example.com',
      subscription,
    },
  })
  const plain = notification(null)
  await receive(plain)
  const [, event] = await store.readStream(inboxOf(plain))
  t.notOk(event && 'subscription' in event.data)
})
