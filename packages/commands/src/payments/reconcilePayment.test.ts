import { paymentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { createFakeProvider, type FakeIntent } from '../testing/fakeProvider.ts'
import { metadata, workflowHarness } from '../testing/workflowHarness.ts'
import { reconcilePayment } from './reconcilePayment.ts'

const { provider, fake } = createFakeProvider(t, { allowDouble: true })
const { workflow, providers, open, notify, typesOf } = await workflowHarness(t, provider)

async function opened(): Promise<{ id: string; intent: FakeIntent }> {
  const { payment_id: id } = await open()
  const intent = fake.onlyOf(id)
  fake.calls.length = 0
  return { id, intent }
}
const reconcile = (paymentId: string) => reconcilePayment(workflow, paymentId, metadata)
const historyOf = async (paymentId: string) => (await typesOf(paymentStream(paymentId))).slice(2)

t.test('a payment that agrees with its provider is unchanged', async (t) => {
  const { id, intent } = await opened()
  const { finding, payment, status_before, snapshot, problem } = await reconcile(id)
  t.equal(finding, 'same')
  t.equal(status_before, 'pending')
  t.equal(payment.status, 'pending')
  t.equal(snapshot?.report.provider_intent_id, intent.id)
  t.equal(problem, undefined)
  t.same(await historyOf(id), [])
})

t.test('a missed success is recorded once', async (t) => {
  const { id, intent } = await opened()
  const charge = fake.charge(intent)
  const { finding, payment, status_before } = await reconcile(id)
  t.same([finding, status_before, payment.status], ['late', 'pending', 'succeeded'])
  t.equal(payment.provider_payment_id, charge)
  t.equal((await reconcile(id)).finding, 'same')
  t.same(await historyOf(id), ['PaymentSucceeded'])
})

t.test('every status of the provider is recorded, also processing back to pending', async (t) => {
  const { id, intent } = await opened()
  for (const status of ['processing', 'pending', 'failed', 'processing', 'canceled'] as const) {
    intent.status = status
    const { finding, payment } = await reconcile(id)
    t.same([finding, payment.status], ['late', status])
    t.equal((await reconcile(id)).finding, 'same')
  }
  t.same(await historyOf(id), [
    'PaymentProcessingStarted',
    'PaymentActionRequired',
    'PaymentAttemptFailed',
    'PaymentProcessingStarted',
    'PaymentCanceled',
  ])
})

t.test('a charge with another amount or currency is amount_differs, recorded once', async (t) => {
  const { id, intent } = await opened()
  fake.charge(intent, 2598)
  for (let n = 0; n < 2; n++) {
    const { finding, payment } = await reconcile(id)
    t.same([finding, payment.status], ['amount_differs', 'pending'])
  }
  t.same(await historyOf(id), ['PaymentAmountMismatch'])
  const other = await opened()
  fake.charge(other.intent)
  other.intent.currency = 'USD'
  t.equal((await reconcile(other.id)).finding, 'amount_differs')
})

t.test('a charge for a canceled payment is a conflict, recorded once', async (t) => {
  const { id, intent } = await opened()
  intent.status = 'canceled'
  await reconcile(id)
  fake.charge(intent)
  for (let n = 0; n < 2; n++) {
    const { finding, payment } = await reconcile(id)
    t.same([finding, payment.status], ['conflict', 'canceled'])
  }
  t.same(await historyOf(id), ['PaymentCanceled', 'PaymentConflictDetected'])
})

t.test('a success that the provider withdraws is a conflict, and the payment stays succeeded', async (t) => {
  const { id, intent } = await opened()
  fake.charge(intent)
  await reconcile(id)
  intent.status = 'canceled'
  for (let n = 0; n < 2; n++) {
    const { finding, payment } = await reconcile(id)
    t.same([finding, payment.status], ['conflict', 'succeeded'])
  }
  t.same(await historyOf(id), ['PaymentSucceeded', 'ProviderEventIgnored'])
})

t.test('every further charge is a conflict, recorded once', async (t) => {
  const { id, intent } = await opened()
  const charges = [fake.charge(intent), fake.charge(intent), fake.charge(intent)]
  for (let n = 0; n < 2; n++) {
    const { finding, payment } = await reconcile(id)
    t.same([finding, payment.status, payment.provider_payment_id], ['conflict', 'succeeded', charges[0]])
  }
  t.same(await historyOf(id), ['PaymentSucceeded', 'PaymentConflictDetected', 'PaymentConflictDetected'])
})

t.test('a success whose notification names another charge is a conflict', async (t) => {
  const { id, intent } = await opened()
  await notify(intent, 'succeeded', 'ch_other')
  fake.charge(intent)
  t.equal((await reconcile(id)).finding, 'conflict')
  t.same(await historyOf(id), ['PaymentSucceeded', 'PaymentConflictDetected'])
})

t.test('a success whose notification names no charge is not a conflict', async (t) => {
  const { id, intent } = await opened()
  await notify(intent, 'succeeded')
  fake.charge(intent)
  t.equal((await reconcile(id)).finding, 'same')
  t.same(await historyOf(id), ['PaymentSucceeded'])
  const other = await opened()
  await notify(other.intent, 'failed', 'ch_declined')
  await notify(other.intent, 'succeeded')
  fake.charge(other.intent)
  t.equal((await reconcile(other.id)).finding, 'same', 'the recorded charge is the failed one')
})

t.test('an intent that does not exist at the provider is missing, and the payment is unchanged', async (t) => {
  const { id, intent } = await opened()
  fake.intents.delete(intent.id)
  const { finding, payment, snapshot } = await reconcile(id)
  t.same([finding, payment.status, snapshot], ['missing', 'pending', undefined])
  t.same(await historyOf(id), [])
})

t.test('a failed query is reported with the provider code', async (t) => {
  const { id } = await opened()
  for (const kind of ['unavailable', 'unknown', 'rejected'] as const) {
    fake.failures.set('retrieve', [{ kind }])
    const { finding, payment, problem, snapshot } = await reconcile(id)
    t.equal(finding, kind === 'unknown' ? 'unknown' : 'unreachable')
    t.same([payment.status, problem, snapshot], ['pending', `retrieve_${kind}`, undefined])
  }
  providers.clear()
  t.match(await reconcile(id), { finding: 'unreachable', problem: 'provider_not_enabled' })
  t.same(await historyOf(id), [])
})

t.test('reconciling an unknown payment is not_found', async (t) => {
  await t.rejects(reconcile('018f0000-0000-7000-8000-00000000dead'), { code: 'not_found' })
})

t.test('a payment of a provider that cannot be queried is unchanged', async (t) => {
  const { id } = await opened()
  providers.set(provider.id, { ...provider, retrieveIntent: null })
  t.equal((await reconcile(id)).finding, 'same')
  t.same(fake.calls, [])
})

t.test('an outdated snapshot is not applied but fetched again', async (t) => {
  const { id, intent } = await opened()
  intent.status = 'processing'
  fake.meanwhile = async () => {
    fake.meanwhile = undefined
    const charge = fake.charge(intent)
    await notify(intent, 'succeeded', charge)
  }
  const { finding, payment } = await reconcile(id)
  t.same([finding, payment.status], ['late', 'succeeded'])
  t.equal(fake.calls.length, 2)
  t.same(await historyOf(id), ['PaymentSucceeded'])
})

t.test('a snapshot that changes nothing is fetched again when the payment changes during the query', async (t) => {
  const { id, intent } = await opened()
  fake.meanwhile = async () => {
    fake.meanwhile = undefined
    await notify(intent, 'processing')
  }
  const { finding, payment } = await reconcile(id)
  t.equal(fake.calls.length, 2)
  t.same([finding, payment.status], ['same', 'pending'], "the provider's status wins")
  t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentActionRequired'])
})

t.test('reconciling a payment that keeps changing is concurrent_modification after three attempts', async (t) => {
  const { id, intent } = await opened()
  fake.meanwhile = () => notify(intent, 'failed', `ch_${fake.calls.length}`)
  await t.rejects(reconcile(id), { code: 'concurrent_modification' })
  t.equal(fake.calls.length, 3)
  fake.meanwhile = undefined
  intent.status = 'failed'
  t.equal((await reconcile(id)).finding, 'same')
})

t.test('a finished create call with another amount is amount_differs, not late', async (t) => {
  fake.failures.set('create', [{ kind: 'unknown', done: true }])
  const { payment_id: id } = await open()
  for (const intent of fake.of(id)) fake.charge(intent, 1)
  t.match(await reconcile(id), { finding: 'amount_differs', payment: { status: 'pending' } })
})
