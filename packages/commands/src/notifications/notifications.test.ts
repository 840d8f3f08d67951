import { randomUUIDv7 } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentStream, providerEventStream } from '@paylog/event-store/streamName'
import {
  type Provider,
  ProviderError,
  type ProviderNotification,
  type ProviderReport,
} from '@paylog/providers/provider'
import t from 'tap'
import type { Workflow } from '../context.ts'
import { reconcilePayment } from '../payments/reconcilePayment.ts'
import { createFakeProvider, type FakeIntent } from '../testing/fakeProvider.ts'
import { notificationFixture, unsigned } from '../testing/notificationFixture.ts'
import { crashAfter, metadata, workflowHarness } from '../testing/workflowHarness.ts'
import { applyStoredNotification, receiveNotification } from './notifications.ts'

const { fake, provider: fakeProvider } = createFakeProvider(t)
/** The provider's `completeNotification`, set by a test. */
let complete: Provider['completeNotification'] = null
const provider = unsigned({
  ...fakeProvider,
  completeNotification: async (notification) => (await complete?.(notification)) ?? notification,
})
const { workflow, store, providers, open, typesOf, advance: later } = await workflowHarness(t, provider)

t.beforeEach(() => {
  complete = null
})

/** @param report a success, but for this; `null` for none */
function notification(report: Partial<ProviderReport> | null, more: Partial<ProviderNotification> = {}) {
  const sent = notificationFixture({ amount_cents: 2599, currency: 'EUR', status: 'done', ...more })
  const { provider_event_id, occurred_at: provider_time } = sent
  const source = { provider_time, provider_event_id, provider_intent_id: null, provider_payment_id: null }
  const success = { about: 'status', status: 'succeeded', amount_cents: 2599, currency: 'eur', ...source }
  return { ...sent, report: report === null ? null : { ...success, ...report } }
}
type NotificationFixture = ReturnType<typeof notification>

const bytes = (sent: NotificationFixture) => Buffer.from(JSON.stringify(sent))
const receive = (sent: NotificationFixture, on: Workflow = workflow) =>
  receiveNotification(on, { provider, body: bytes(sent), headers: {}, requestId: 'request' })
const inboxOf = ({ provider_event_id }: NotificationFixture) => providerEventStream(provider.id, provider_event_id)
const refundOf = (charge: string, refund_id: string) =>
  notification({ about: 'refund', provider_payment_id: charge, provider_refund_id: refund_id, amount_cents: 100 })

async function opened(): Promise<{ id: string; intent: FakeIntent }> {
  const { payment_id: id } = await open()
  return { id, intent: fake.onlyOf(id) }
}
const historyOf = async (paymentId: string) => (await typesOf(paymentStream(paymentId))).slice(2)
const settledLater = ['ProviderEventReceived', 'ProviderEventApplied']
const unreachable = () =>
  Promise.reject(new ProviderError('unavailable', 'unreachable', 'The provider cannot be reached'))

t.test('a notification about our payment is one append to its stream, with what follows from it', async (t) => {
  const { id, intent } = await opened()
  const sent = notification({ provider_intent_id: intent.id }, { referenced_payment_id: id, generic_type: 'x' })
  const { postponed } = await receive(sent)
  t.equal(postponed, undefined)
  const [, , received, succeeded, ...others] = await store.readStream(paymentStream(id))
  t.same([received?.type, succeeded?.type, others], ['ProviderNotificationReceived', 'PaymentSucceeded', []])
  t.match(received?.data, {
    payment_id: id,
    provider_time: sent.occurred_at,
    provider_event_id: sent.provider_event_id,
    provider_type: 'something.happened',
    generic_type: 'x',
    object_id: 'object',
    reported_amount_cents: 2599,
    reported_currency: 'EUR',
    reported_status: 'done',
    body: bytes(sent).toString('utf8'),
  })
  t.equal(received?.metadata.causationId, 'request')
  t.equal(succeeded?.metadata.causationId, received?.id)
  t.same(await typesOf(inboxOf(sent)), [], 'no separate stream')
})

t.test('a notification that changes nothing is in the stream of its payment, and its copies are not', async (t) => {
  const { id, intent } = await opened()
  const sent = notification({ about: 'object', provider_intent_id: intent.id }, { referenced_payment_id: id })
  for (let copy = 0; copy < 3; copy++) await receive(sent)
  t.same(await historyOf(id), ['ProviderNotificationReceived'])
})

t.test('of 50 copies of a notification at the same moment one is recorded', async (t) => {
  for (const named of [true, false]) {
    const { id, intent } = await opened()
    const sent = notification(
      { provider_intent_id: intent.id, provider_payment_id: fake.charge(intent) },
      { referenced_payment_id: named ? id : null },
    )
    const ends = await Promise.all(Array.from({ length: 50 }, () => receive(sent)))
    t.same(new Set(ends.map(({ postponed }) => postponed)), new Set([undefined]))
    t.same(await historyOf(id), [...(named ? ['ProviderNotificationReceived'] : []), 'PaymentSucceeded'])
    t.same(await typesOf(inboxOf(sent)), named ? [] : settledLater)
  }
  const foreign = notification({ provider_intent_id: 'pi_foreign' })
  await Promise.all(Array.from({ length: 50 }, () => receive(foreign)))
  t.same(await typesOf(inboxOf(foreign)), ['ProviderEventReceived', 'ProviderEventUnmatched'])
})

t.test(
  'a notification that lost against other writers of its payment is sent again, and recorded in the payment only',
  async (t) => {
    const { id, intent } = await opened()
    const sent = notification({ provider_intent_id: intent.id }, { referenced_payment_id: id })
    for (const code of ['concurrent_modification', 'service_unavailable'] as const) {
      const handle: EventStore['handle'] = async (command) => {
        if (command.stream === paymentStream(id)) throw new DomainError(code, 'try again')
        return await store.handle(command)
      }
      await t.rejects(receive(sent, { ...workflow, store: { ...store, handle } }), { code })
    }
    await receive(sent)
    t.same(await historyOf(id), ['ProviderNotificationReceived', 'PaymentSucceeded'])
    t.same(await typesOf(inboxOf(sent)), [])
  },
)

t.test('a notification that arrives before the response to the create call is applied', async (t) => {
  const sent: NotificationFixture[] = []
  fake.meanwhile = async (call) => {
    fake.meanwhile = undefined
    const intent = fake.byKey.get(call.replace('create ', ''))
    const of = { provider_intent_id: intent?.id ?? '' }
    sent.push(notification(of, { referenced_payment_id: intent?.payment_id ?? null }))
    await receive(sent[0] as NotificationFixture)
  }
  const { payment_id, status, provider_intent_id } = await open()
  t.same([status, provider_intent_id], ['succeeded', fake.onlyOf(payment_id).id])
  const types = ['PaymentInitiated', 'ProviderNotificationReceived', 'PaymentSucceeded', 'ProviderIntentCreated']
  t.same(await typesOf(paymentStream(payment_id)), types)
})

t.test('a notification that cannot be completed is stored and applied later', async (t) => {
  const { id, intent } = await opened()
  const sent = notification(null)
  complete = unreachable
  t.match((await receive(sent)).postponed, { code: 'unreachable' })
  t.same(await typesOf(inboxOf(sent)), ['ProviderEventReceived'])
  await t.rejects(applyStoredNotification(workflow, inboxOf(sent)), { code: 'unreachable' })
  complete = async (incomplete) => ({
    ...incomplete,
    referenced_payment_id: id,
    report: notification({ provider_intent_id: intent.id, provider_payment_id: 'ch_1' }).report as ProviderReport,
  })
  t.equal(await applyStoredNotification(workflow, inboxOf(sent)), true)
  t.equal((await receive(sent)).postponed, undefined, 'a late copy')
  t.same(await typesOf(inboxOf(sent)), settledLater)
  t.same(await historyOf(id), ['PaymentSucceeded'])
  const [received, applied] = await store.readStream(inboxOf(sent))
  t.equal(applied?.metadata.causationId, received?.id)
  t.equal(applied?.metadata.correlationId, received?.metadata.correlationId)
  t.equal(applied?.metadata.actor, 'worker')
})

t.test('a notification is applied once after a crash at any append', async (t) => {
  const { id, intent } = await opened()
  const named = notification({ provider_intent_id: intent.id }, { referenced_payment_id: id })
  await t.rejects(receive(named, crashAfter(0, workflow)), /died/)
  t.same(await historyOf(id), [], 'not stored, so not acknowledged')
  t.same(await typesOf(inboxOf(named)), [])
  await receive(named)
  t.same(await historyOf(id), ['ProviderNotificationReceived', 'PaymentSucceeded'])
  for (const appends of [0, 1]) {
    const { id, intent } = await opened()
    const sent = notification({ provider_intent_id: intent.id, provider_payment_id: fake.charge(intent) })
    complete = unreachable
    await receive(sent)
    complete = null
    await t.rejects(applyStoredNotification(crashAfter(appends, workflow), inboxOf(sent)), /died/)
    await Promise.all([1, 2, 3].map(() => applyStoredNotification(workflow, inboxOf(sent))))
    t.same(await typesOf(inboxOf(sent)), settledLater)
    t.same(await historyOf(id), ['PaymentSucceeded'])
  }
})

t.test('a stored notification of a disabled provider is not applied until the provider is enabled', async (t) => {
  const sent = notification(null)
  complete = unreachable
  await receive(sent)
  complete = null
  providers.clear()
  t.equal(await applyStoredNotification(workflow, inboxOf(sent)), false)
  t.same(await typesOf(inboxOf(sent)), ['ProviderEventReceived'])
  providers.set(provider.id, provider)
  t.equal(await applyStoredNotification(workflow, inboxOf(sent)), true)
  t.same(await typesOf(inboxOf(sent)), ['ProviderEventReceived', 'ProviderEventUnmatched'])
  t.equal(await applyStoredNotification(workflow, providerEventStream(provider.id, 'never')), true, 'unknown')
})

t.test('a refund or dispute that names only the charge finds the payment through the provider', async (t) => {
  const { id, intent } = await opened()
  const charge = fake.charge(intent)
  await receive(refundOf(charge, 're_1'))
  const money = { disputed_cents: 100, reason: null, evidence_due_by: null }
  const dispute = { about: 'dispute', provider_dispute_id: 'dp_1', status: 'lost', provider_status: 'lost' } as const
  await receive(notification({ ...dispute, ...money, provider_payment_id: charge }))
  t.same(await historyOf(id), ['RefundRecorded', 'PaymentDisputeRecorded'])
  const foreign = refundOf('ch_unknown', 're_2')
  await receive(foreign)
  t.same(await typesOf(inboxOf(foreign)), ['ProviderEventReceived', 'ProviderEventUnmatched'])
})

t.test('a report finds a payment whose create call got no response, or whose process died', async (t) => {
  fake.failures.set('create', [{ kind: 'unknown', done: true }])
  const lost = (await open()).payment_id
  const died = randomUUIDv7()
  await t.rejects(open({ on: crashAfter(1, workflow), payment_id: died }), /died/)
  later(60_000)
  for (const id of [lost, died]) {
    const intent = fake.onlyOf(id)
    const charge = fake.charge(intent)
    await receive(notification({ provider_intent_id: intent.id, provider_payment_id: charge }))
    t.match(await reconcilePayment(workflow, id, metadata), { payment: { status: 'succeeded' } })
    await receive(refundOf(charge, 're_1'))
    const types = await typesOf(paymentStream(id))
    t.same(types.slice(id === lost ? 2 : 1), ['PaymentSucceeded', 'ProviderIntentCreated', 'RefundRecorded'])
  }
})

t.test(
  'the intent of a further attempt finds the payment, and one of an earlier attempt does not change it',
  async (t) => {
    fake.failures.set('create', [{ kind: 'unavailable', done: true }])
    const key = { payment_id: randomUUIDv7(), request_fingerprint: 'fingerprint' }
    const { payment_id: id } = await open(key)
    const early = fake.onlyOf(id)
    await open(key)
    const later = fake.of(id).find((intent) => intent !== early)
    await receive(notification({ provider_intent_id: early.id }, { referenced_payment_id: id }))
    t.same((await historyOf(id)).slice(2), ['ProviderEventIgnored'])
    await receive(notification({ provider_intent_id: later?.id ?? '' }, { referenced_payment_id: id }))
    t.same((await historyOf(id)).slice(3), ['ProviderNotificationReceived', 'PaymentSucceeded'])
  },
)

t.test('a foreign intent that names our payment changes nothing, and neither does its refund', async (t) => {
  const { id } = await opened()
  const foreign = fake.make({ payment_id: id })
  const charge = fake.charge(foreign)
  const sent = notification(
    { provider_intent_id: foreign.id, provider_payment_id: charge },
    { referenced_payment_id: id },
  )
  await receive(sent)
  t.same(await historyOf(id), ['ProviderEventIgnored'])
  t.match((await store.readStream(inboxOf(sent))).at(-1)?.data, { payment_id: id, is_foreign_intent: true })
  const refund = refundOf(charge, 're_1')
  await receive({ ...refund, report: { ...refund.report, provider_intent_id: foreign.id } as typeof refund.report })
  t.same(await historyOf(id), ['ProviderEventIgnored', 'ProviderEventIgnored'])
})

t.test(
  'of two intents that name a payment without a recorded one, the second waits until it is recorded',
  async (t) => {
    for (const isOwnFirst of [true, false]) {
      fake.failures.set('create', [{ kind: 'unknown', done: true }])
      const { payment_id: id } = await open()
      const own = fake.onlyOf(id)
      const foreign = fake.make({ payment_id: id })
      const about = ({ id: provider_intent_id }: FakeIntent, status: 'processing' | 'succeeded') =>
        notification({ status, provider_intent_id }, { referenced_payment_id: id })
      const [first, second] = isOwnFirst
        ? [about(own, 'processing'), about(foreign, 'succeeded')]
        : [about(foreign, 'processing'), about(own, 'succeeded')]
      t.match(await receive(first), { postponed: undefined })
      const applied = ['ProviderNotificationReceived', 'PaymentProcessingStarted']
      t.match(await receive(second), { postponed: { code: 'intent_not_recorded' } })
      t.same(await historyOf(id), applied)
      await t.rejects(applyStoredNotification(workflow, inboxOf(second)), { code: 'intent_not_recorded' })
      later(60_000)
      await reconcilePayment(workflow, id, metadata)
      t.equal(await applyStoredNotification(workflow, inboxOf(second)), true)
      const types = await historyOf(id)
      t.equal(types.includes('PaymentSucceeded'), !isOwnFirst)
      t.equal(types.at(-1), isOwnFirst ? 'ProviderEventIgnored' : 'PaymentSucceeded')
    }
  },
)

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
