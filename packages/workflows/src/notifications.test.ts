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

const fake = createFakeProvider(t)
const { stage } = fake
/** What the provider adds to a notification; nothing when the test does not say. */
let complete: Provider['completeNotification'] = null
/** A notification of this provider is the notification in our words, as JSON; anybody may send it. */
const provider: Provider = {
  ...fake.provider,
  async verifyNotification() {},
  readNotification: (body) => JSON.parse(body.toString('utf8')),
  completeNotification: async (notification) => (await complete?.(notification)) ?? notification,
}
const { workflow, store, providers, open, typesOf, advance: later, time } = await workflowHarness(t, provider)

t.beforeEach(() => {
  stage.failures.clear()
  complete = null
  providers.set(provider.id, provider)
  time.now = () => new Date()
})

let events = 0
function notification(report: Partial<ProviderReport> | null, more: Partial<ProviderNotification> = {}) {
  const provider_event_id = `evt_${events++}`
  const occurred_at = new Date().toISOString()
  const said = {
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
    report: report === null ? null : said,
  }
}
type NotificationFixture = ReturnType<typeof notification>

const bytes = (told: NotificationFixture, padding = '') => Buffer.from(JSON.stringify({ ...told, padding }))
const receive = (told: NotificationFixture, on: Workflow = workflow, padding = '') =>
  receiveNotification(on, { provider, body: bytes(told, padding), headers: {}, requestId: 'request' })
const inboxOf = ({ provider_event_id }: NotificationFixture) => providerEventStream(provider.id, provider_event_id)
const refundOf = (charge: string, refund_id: string) =>
  notification({ about: 'refund', provider_payment_id: charge, refund_id, refunded_cents: 100 })

async function opened(): Promise<{ id: string; intent: FakeIntent }> {
  const { payment_id: id } = await open()
  return { id, intent: stage.onlyOf(id) }
}
const historyOf = async (paymentId: string) => (await typesOf(paymentStream(paymentId))).slice(2)
const appliedEvents = ['ProviderEventReceived', 'ProviderEventApplied']

t.test('a notification that could not be completed is kept, and settled later', async (t) => {
  const { id, intent } = await opened()
  const told = notification(null)
  complete = async () => {
    throw new ProviderError('unavailable', 'refused', 'The provider cannot be reached')
  }
  t.match((await receive(told)).postponed, { code: 'refused' })
  t.same(await typesOf(inboxOf(told)), ['ProviderEventReceived'])
  await t.rejects(applyStoredNotification(workflow, inboxOf(told)), { code: 'refused' })
  complete = async (incomplete) => ({
    ...incomplete,
    report: notification({ provider_intent_id: intent.id, provider_payment_id: 'ch_1' }).report as ProviderReport,
  })
  t.equal(await applyStoredNotification(workflow, inboxOf(told)), true)
  t.same(await typesOf(inboxOf(told)), appliedEvents)
  t.same(await historyOf(id), ['PaymentSucceeded'])
  const [received, applied] = await store.readStream(inboxOf(told))
  t.equal(applied?.metadata.causationId, received?.id)
  t.equal(applied?.metadata.correlationId, received?.metadata.correlationId)
  t.equal(applied?.metadata.actor, 'worker')
})

t.test('a settled notification is not settled again', async (t) => {
  const { id, intent } = await opened()
  const told = notification({ status: 'failed', provider_intent_id: intent.id })
  await receive(told)
  complete = () => Promise.reject(new Error('nobody has to be asked'))
  t.equal(await applyStoredNotification(workflow, inboxOf(told)), true)
  t.equal((await receive(told)).postponed, undefined)
  t.same(await typesOf(inboxOf(told)), appliedEvents)
  t.same(await historyOf(id), ['PaymentAttemptFailed'])
})

t.test('a long notification is settled from its compressed text', async (t) => {
  const { id, intent } = await opened()
  const told = notification({ provider_intent_id: intent.id })
  complete = async () => {
    throw new ProviderError('unavailable', 'refused', 'The provider cannot be reached')
  }
  await receive(told, workflow, '"ü\u{1f600}'.repeat(60_000))
  const [received] = await store.readStream(inboxOf(told))
  t.match(received?.data, { body_encoding: 'gzip' })
  complete = null
  t.equal(await applyStoredNotification(workflow, inboxOf(told)), true)
  t.same(await historyOf(id), ['PaymentSucceeded'])
})

t.test('wherever a process dies while it settles a notification, it counts once', async (t) => {
  for (const appends of [1, 2, 3]) {
    const { id, intent } = await opened()
    const charge = stage.charge(intent)
    const told = notification({ provider_intent_id: intent.id, provider_payment_id: charge })
    t.match((await receive(told, crashAfter(appends, workflow))).postponed, { message: /died/ })
    t.same(await typesOf(inboxOf(told)), ['ProviderEventReceived'], `${appends}`)
    await Promise.all([1, 2, 3].map(() => applyStoredNotification(workflow, inboxOf(told))))
    t.same(await typesOf(inboxOf(told)), appliedEvents)
    t.same(await historyOf(id), ['PaymentSucceeded'])
    t.same(await typesOf(providerIntentStream(provider.id, charge)), ['ProviderIntentOwned'])
  }
  const told = notification(null)
  await t.rejects(receive(told, crashAfter(0, workflow)), /died/)
  t.same(await typesOf(inboxOf(told)), [], 'what was not stored is not acknowledged')
})

t.test('a notification of a provider that is not enabled any more waits', async (t) => {
  const told = notification(null)
  await receive(told, crashAfter(1, workflow))
  providers.clear()
  t.equal(await applyStoredNotification(workflow, inboxOf(told)), false)
  t.same(await typesOf(inboxOf(told)), ['ProviderEventReceived'])
  providers.set(provider.id, provider)
  t.equal(await applyStoredNotification(workflow, inboxOf(told)), true)
  t.same(await typesOf(inboxOf(told)), ['ProviderEventReceived', 'ProviderEventUnmatched'])
})

t.test('an inbox that is not there has nothing to settle', async (t) => {
  t.equal(await applyStoredNotification(workflow, providerEventStream(provider.id, 'never')), true)
})

t.test('a refund or dispute that names the charge alone finds the payment', async (t) => {
  const { id, intent } = await opened()
  const charge = stage.charge(intent)
  const refund = refundOf(charge, 're_1')
  await receive(refund)
  t.same(await typesOf(inboxOf(refund)), ['ProviderEventReceived', 'ProviderEventUnmatched'], 'not before it is known')
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

t.test('that holds for a payment that did not know its intent yet when it was paid', async (t) => {
  stage.failures.set('create', [{ kind: 'unknown', done: true }])
  const { payment_id: id } = await open()
  const intent = stage.onlyOf(id)
  const charge = stage.charge(intent)
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

t.test('and for one whose process died before the payment learned of its intent', async (t) => {
  const payment_id = randomUUIDv7()
  await t.rejects(open({ on: crashAfter(2, workflow), payment_id }), /died/)
  const intent = stage.onlyOf(payment_id)
  const charge = stage.charge(intent)
  await receive(notification({ provider_intent_id: intent.id, provider_payment_id: charge }))
  await receive(refundOf(charge, 're_1'))
  later(60_000)
  t.match(await reconcilePayment(workflow, payment_id, metadata), { payment: { status: 'succeeded' } })
  t.same((await typesOf(paymentStream(payment_id))).slice(1), [
    'PaymentSucceeded',
    'PaymentRefundRecorded',
    'ProviderIntentCreated',
  ])
})

t.test('the charge of another intent does not become the charge of the payment that it names', async (t) => {
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

t.test('nor does the charge of an intent that names a payment whose call was refused', async (t) => {
  stage.failures.set('create', [{ kind: 'declined' }])
  const { payment_id: id } = await open()
  await receive(
    notification({ provider_intent_id: 'pi_later', provider_payment_id: 'ch_later' }, { referenced_payment_id: id }),
  )
  t.same(await historyOf(id), ['ProviderEventIgnored'])
  t.same(await typesOf(providerIntentStream(provider.id, 'ch_later')), [])
})

t.test('our own pointer is believed where a name is not', async (t) => {
  const payment_id = randomUUIDv7()
  await t.rejects(open({ on: crashAfter(2, workflow), payment_id }), /died/)
  later(60_000)
  stage.failures.set('create', [{ kind: 'declined' }])
  t.match(await reconcilePayment(workflow, payment_id, metadata), { payment: { status: 'failed' } })
  const intent = stage.onlyOf(payment_id)
  await receive(notification({ provider_intent_id: intent.id, provider_payment_id: stage.charge(intent) }))
  t.same((await historyOf(payment_id)).slice(-1), ['PaymentSucceeded'])
})

t.test('a notification that names one payment and has the intent of another belongs to the intent', async (t) => {
  const [named, paid] = [await opened(), await opened()]
  await receive(notification({ provider_intent_id: paid.intent.id }, { referenced_payment_id: named.id }))
  t.same(await historyOf(named.id), [])
  t.same(await historyOf(paid.id), ['PaymentSucceeded'])
})

t.test('a notification of one provider says nothing about the payment of another', async (t) => {
  const { id } = await opened()
  const other = { ...provider, id: 'other' }
  providers.set(other.id, other)
  const told = notification({ provider_intent_id: null }, { referenced_payment_id: id })
  await receiveNotification(workflow, { provider: other, body: bytes(told), headers: {}, requestId: 'request' })
  t.same(await typesOf(providerEventStream('other', told.provider_event_id)), [
    'ProviderEventReceived',
    'ProviderEventUnmatched',
  ])
  t.same(await historyOf(id), [])
})

t.test('what is not ours is kept with all that the provider says of it', async (t) => {
  const subscription = {
    subscription_id: 'sub_1',
    current_period_end: '2026-12-01T00:00:00.000Z',
    status_changed: true,
    is_first_invoice: false,
  }
  const told = notification(null, { subscription, customer_id: 'cus_1', customer_email: 'cus@example.com' })
  await receive(told)
  const [, unmatched] = await store.readStream(inboxOf(told))
  t.match(unmatched, {
    type: 'ProviderEventUnmatched',
    data: {
      provider_event_id: told.provider_event_id,
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
  const [, without] = await store.readStream(inboxOf(plain))
  t.notOk(without && 'subscription' in without.data)
})
