import { paymentStream, providerIntentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { createFakeProvider, type FakeIntent } from '../testing/fakeProvider.ts'
import { metadata, workflowHarness } from '../testing/workflowHarness.ts'
import { reconcilePayment } from './reconcilePayment.ts'

const { provider, stage } = createFakeProvider(t, { allowDouble: true })
const { workflow, store, providers, open, notify, typesOf } = await workflowHarness(t, provider)

t.beforeEach(() => {
  stage.calls.length = 0
  stage.failures.clear()
  stage.meanwhile = undefined
  providers.set(provider.id, provider)
})

async function opened(): Promise<{ id: string; intent: FakeIntent }> {
  const { payment_id: id } = await open()
  const intent = stage.onlyOf(id)
  stage.calls.length = 0
  return { id, intent }
}
const reconcile = (paymentId: string) => reconcilePayment(workflow, paymentId, metadata)
const historyOf = async (paymentId: string) => (await typesOf(paymentStream(paymentId))).slice(2)

t.test('what the provider says the same of is left alone', async (t) => {
  const { id, intent } = await opened()
  const { finding, payment, status_before, snapshot, problem } = await reconcile(id)
  t.equal(finding, 'same')
  t.equal(status_before, 'pending')
  t.equal(payment.status, 'pending')
  t.equal(snapshot?.evidence.provider_intent_id, intent.id)
  t.equal(problem, undefined)
  t.same(await historyOf(id), [])
})

t.test('what was missed is recorded, once, and the charge points to the payment from then on', async (t) => {
  const { id, intent } = await opened()
  const charge = stage.charge(intent)
  const { finding, payment, status_before } = await reconcile(id)
  t.same([finding, status_before, payment.status], ['late', 'pending', 'succeeded'])
  t.equal(payment.provider_payment_id, charge)
  t.equal((await reconcile(id)).finding, 'same')
  t.same(await historyOf(id), ['PaymentSucceeded'])
  const [pointer] = await store.readStream(providerIntentStream(provider.id, charge))
  t.match(pointer?.data, { payment_id: id, provider_intent_id: charge })
})

t.test('every status is followed, back from processing to pending too', async (t) => {
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

t.test('another amount or currency is no success, is recorded once and reported every time', async (t) => {
  const { id, intent } = await opened()
  stage.charge(intent, 2598)
  for (let n = 0; n < 2; n++) {
    const { finding, payment } = await reconcile(id)
    t.same([finding, payment.status], ['amount_differs', 'pending'])
  }
  t.same(await historyOf(id), ['PaymentAmountMismatch'])
  const other = await opened()
  stage.charge(other.intent)
  other.intent.currency = 'USD'
  t.equal((await reconcile(other.id)).finding, 'amount_differs')
})

t.test('money for a canceled payment is a conflict, recorded once and reported every time', async (t) => {
  const { id, intent } = await opened()
  intent.status = 'canceled'
  await reconcile(id)
  stage.charge(intent)
  for (let n = 0; n < 2; n++) {
    const { finding, payment } = await reconcile(id)
    t.same([finding, payment.status], ['conflict', 'canceled'])
  }
  t.same(await historyOf(id), ['PaymentCanceled', 'PaymentConflictDetected'])
})

t.test('a success that the provider takes back is a conflict, and the payment stays succeeded', async (t) => {
  const { id, intent } = await opened()
  stage.charge(intent)
  await reconcile(id)
  intent.status = 'canceled'
  for (let n = 0; n < 2; n++) {
    const { finding, payment } = await reconcile(id)
    t.same([finding, payment.status], ['conflict', 'succeeded'])
  }
  t.same(await historyOf(id), ['PaymentSucceeded', 'ProviderEventIgnored'])
})

t.test('every further charge is a conflict, recorded once, and points to the payment', async (t) => {
  const { id, intent } = await opened()
  const charges = [stage.charge(intent), stage.charge(intent), stage.charge(intent)]
  for (let n = 0; n < 2; n++) {
    const { finding, payment } = await reconcile(id)
    t.same([finding, payment.status, payment.provider_payment_id], ['conflict', 'succeeded', charges[0]])
  }
  t.same(await historyOf(id), ['PaymentSucceeded', 'PaymentConflictDetected', 'PaymentConflictDetected'])
  for (const charge of charges)
    t.same(await typesOf(providerIntentStream(provider.id, charge)), ['ProviderIntentOwned'], charge)
})

t.test('a success that was told by another charge is a conflict', async (t) => {
  const { id, intent } = await opened()
  await notify(intent, 'succeeded', 'ch_other')
  stage.charge(intent)
  t.equal((await reconcile(id)).finding, 'conflict')
  t.same(await historyOf(id), ['PaymentSucceeded', 'PaymentConflictDetected'])
})

t.test('a success that was told without its charge is no conflict', async (t) => {
  const { id, intent } = await opened()
  await notify(intent, 'succeeded')
  stage.charge(intent)
  t.equal((await reconcile(id)).finding, 'same')
  t.same(await historyOf(id), ['PaymentSucceeded'])
  const other = await opened()
  await notify(other.intent, 'failed', 'ch_declined')
  await notify(other.intent, 'succeeded')
  stage.charge(other.intent)
  t.equal((await reconcile(other.id)).finding, 'same', 'the charge that is on record is the one that failed')
})

t.test('an intent that the provider does not know is reported, and nothing is concluded from it', async (t) => {
  const { id, intent } = await opened()
  stage.intents.delete(intent.id)
  const { finding, payment, snapshot } = await reconcile(id)
  t.same([finding, payment.status, snapshot], ['missing', 'pending', undefined])
  t.same(await historyOf(id), [])
})

t.test('a provider that does not answer is reported with its code', async (t) => {
  const { id } = await opened()
  for (const kind of ['unavailable', 'unknown', 'rejected'] as const) {
    stage.failures.set('retrieve', [{ kind }])
    const { finding, payment, problem, snapshot } = await reconcile(id)
    t.equal(finding, kind === 'unknown' ? 'unknown' : 'unreachable')
    t.same([payment.status, problem, snapshot], ['pending', `retrieve_${kind}`, undefined])
  }
  providers.clear()
  t.match(await reconcile(id), { finding: 'unreachable', problem: 'provider_not_enabled' })
  t.same(await historyOf(id), [])
})

t.test('a payment that is not there is no payment to reconcile', async (t) => {
  await t.rejects(reconcile('018f0000-0000-7000-8000-00000000dead'), { code: 'not_found' })
})

t.test('a provider without a memory has nothing to say', async (t) => {
  const { id } = await opened()
  providers.set(provider.id, { ...provider, retrieveIntent: null })
  t.equal((await reconcile(id)).finding, 'same')
  t.same(stage.calls, [])
})

t.test('an answer that a payment has outrun is not applied; the question is asked again', async (t) => {
  const { id, intent } = await opened()
  intent.status = 'processing'
  stage.meanwhile = async () => {
    stage.meanwhile = undefined
    const charge = stage.charge(intent)
    await notify(intent, 'succeeded', charge)
  }
  const { finding, payment } = await reconcile(id)
  t.same([finding, payment.status], ['late', 'succeeded'])
  t.equal(stage.calls.length, 2)
  t.same(await historyOf(id), ['PaymentSucceeded'])
})

t.test('an answer that says nothing new is asked for again, too, when the payment has changed', async (t) => {
  const { id, intent } = await opened()
  stage.meanwhile = async () => {
    stage.meanwhile = undefined
    await notify(intent, 'processing')
  }
  const { finding, payment } = await reconcile(id)
  t.equal(stage.calls.length, 2)
  t.same([finding, payment.status], ['same', 'pending'], 'the provider did not mean it')
  t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentActionRequired'])
})

t.test('a payment that never holds still is left for later', async (t) => {
  const { id, intent } = await opened()
  stage.meanwhile = () => notify(intent, 'failed', `ch_${stage.calls.length}`)
  await t.rejects(reconcile(id), { code: 'concurrent_modification' })
  t.equal(stage.calls.length, 3)
  stage.meanwhile = undefined
  intent.status = 'failed'
  t.equal((await reconcile(id)).finding, 'same')
})

t.test('a payment whose intent came late is found by its charge as well', async (t) => {
  stage.failures.set('create', [{ kind: 'unknown', done: true }])
  const { payment_id: id } = await open()
  const charge = stage.charge(stage.onlyOf(id))
  const { finding, payment } = await reconcile(id)
  t.same([finding, payment.status], ['late', 'succeeded'])
  t.same(await typesOf(providerIntentStream(provider.id, charge)), ['ProviderIntentOwned'])
})

t.test('that a call was finished hides nothing worse', async (t) => {
  stage.failures.set('create', [{ kind: 'unknown', done: true }])
  const { payment_id: id } = await open()
  for (const intent of stage.of(id)) stage.charge(intent, 1)
  t.match(await reconcile(id), { finding: 'amount_differs', payment: { status: 'pending' } })
})
