import { randomUUIDv7 } from 'node:crypto'
import { paymentStream, providerIntentStream } from '@paylog/event-store/streamName'
import t, { type Test } from 'tap'
import { createFakeProvider } from '../testing/fakeProvider.ts'
import { crashAfter, metadata, workflowHarness } from '../testing/workflowHarness.ts'
import { reconcilePayment } from './reconcilePayment.ts'

const { provider, stage } = createFakeProvider(t)
const { workflow, providers, time, open, typesOf, eventsOf, advance: later } = await workflowHarness(t, provider)

const aMinute = 60_000
const aDay = 24 * 60 * aMinute

t.beforeEach(() => {
  stage.calls.length = 0
  stage.intents.clear()
  stage.failures.clear()
  stage.meanwhile = undefined
  providers.set(provider.id, provider)
  time.now = () => new Date()
})

/** A payment whose create call ended unknown. */
async function paymentWithLostResponse(t: Test, { done }: { readonly done: boolean }): Promise<string> {
  stage.failures.set('create', [{ kind: 'unknown', done }])
  const { payment_id } = await open()
  t.same(await typesOf(paymentStream(payment_id)), ['PaymentInitiated', 'ProviderOutcomeUnknown'])
  stage.calls.length = 0
  return payment_id
}
const reconcile = (paymentId: string) => reconcilePayment(workflow, paymentId, metadata)

/** Where a process dies: before the call, before the pointer to the payment is recorded, and before the payment's own record. */
const crashPoints = {
  'before the call': { appends: 1, calls: 0 },
  'after the call': { appends: 1, calls: 1 },
  'after the pointer': { appends: 2, calls: 1 },
}

async function crashedRequest({ appends, calls }: (typeof crashPoints)[keyof typeof crashPoints]): Promise<string> {
  const id = randomUUIDv7()
  const createIntent = async () => {
    throw new Error('the process died here')
  }
  if (calls === 0) providers.set(provider.id, { ...provider, createIntent })
  const dying = open({ on: crashAfter(appends, workflow), payment_id: id })
  await dying.then(
    () => Promise.reject(new Error('it lived')),
    () => undefined,
  )
  providers.set(provider.id, provider)
  stage.calls.length = 0
  return id
}

for (const [where, death] of Object.entries(crashPoints))
  t.test(`a process that dies ${where} leaves a payment that is finished, with one intent`, async (t) => {
    const id = await crashedRequest(death)
    t.same(await typesOf(paymentStream(id)), ['PaymentInitiated'])
    t.equal(stage.of(id).length, death.calls)
    later(aMinute)
    const { finding, payment } = await reconcile(id)
    t.equal(finding, 'late')
    t.equal(payment.status, 'pending')
    t.same(await typesOf(paymentStream(id)), ['PaymentInitiated', 'ProviderIntentCreated'])
    const [intent, ...more] = stage.of(id)
    t.same(more, [], 'the same key gave the same intent')
    t.equal(payment.provider_intent_id, intent?.id)
    t.equal(payment.client_secret, `${intent?.id}_secret`)
    t.same(await typesOf(providerIntentStream(provider.id, String(intent?.id))), ['ProviderIntentOwned'])
    t.equal((await reconcile(id)).finding, 'same')
  })

t.test('a call whose caller may still be at it is left alone', async (t) => {
  const id = await crashedRequest(crashPoints['after the call'])
  later(15_000)
  t.equal((await reconcile(id)).finding, 'same')
  t.same(stage.calls, [])
  later(21_000)
  t.equal((await reconcile(id)).finding, 'late')
})

t.test('a lost answer is asked for again with the same key, whether the provider had done it or not', async (t) => {
  for (const done of [true, false]) {
    const id = await paymentWithLostResponse(t, { done })
    const { finding, payment } = await reconcile(id)
    t.equal(finding, 'late')
    t.equal(payment.intent_outcome.kind, 'created')
    t.equal(stage.calls[0], `create ${id}`)
    t.equal(stage.of(id).length, 1)
    t.same((await typesOf(paymentStream(id))).slice(2), ['ProviderIntentCreated'])
  }
})

t.test('a lost answer that turns out to be a refusal makes the payment failed', async (t) => {
  const id = await paymentWithLostResponse(t, { done: false })
  stage.failures.set('create', [{ kind: 'declined' }])
  const { finding, payment } = await reconcile(id)
  t.equal(finding, 'late')
  t.equal(payment.status, 'failed')
  t.match((await eventsOf(id)).at(-1), { type: 'PaymentAttemptFailed', data: { refusal: 'payment_declined' } })
})

t.test('that the provider cannot be reached does not make a lost call a failed one', async (t) => {
  const id = await paymentWithLostResponse(t, { done: true })
  stage.failures.set('create', [{ kind: 'unavailable' }])
  stage.failures.set('find', [{ kind: 'unavailable' }])
  const { finding, payment, problem } = await reconcile(id)
  t.equal(finding, 'unreachable')
  t.equal(problem, 'find_unavailable')
  t.equal(payment.status, 'pending')
  t.equal(payment.intent_outcome.kind, 'unknown')
  t.equal((await typesOf(paymentStream(id))).length, 2, 'nothing new is known, and nothing is recorded')
})

t.test('nor does it make a call failed that a dead process left open', async (t) => {
  const id = await crashedRequest(crashPoints['after the call'])
  later(aMinute)
  stage.failures.set('create', [{ kind: 'unavailable' }])
  stage.failures.set('find', [{ kind: 'unavailable' }])
  t.match(await reconcile(id), { finding: 'unreachable', payment: { status: 'pending' } })
  t.same(await typesOf(paymentStream(id)), ['PaymentInitiated', 'ProviderOutcomeUnknown'])
})

t.test('when the key answers nothing, what names the payment is taken, and the rest can be paid no more', async (t) => {
  const id = await paymentWithLostResponse(t, { done: true })
  const [first] = stage.of(id)
  const [second, third] = [0, 1].map(() => stage.make({ payment_id: id }))
  if (!first || !second || !third) throw new Error('three intents were made')
  second.status = 'processing'
  third.status = 'failed'
  stage.failures.set('create', [{ kind: 'unknown' }])
  const { finding, payment } = await reconcile(id)
  t.equal(finding, 'late')
  t.equal(payment.provider_intent_id, second.id, 'the one that may be paid already')
  t.equal(payment.client_secret, `${second.id}_secret`)
  t.equal(payment.status, 'processing')
  t.same([first.status, third.status], ['canceled', 'canceled'])
  t.same(
    stage.calls.map((call) => call.split(' ')[0]),
    ['create', 'find', 'cancel', 'cancel', 'retrieve'],
  )
  t.same((await typesOf(paymentStream(id))).slice(2), ['ProviderIntentCreated', 'PaymentProcessingStarted'])
  t.same(await typesOf(providerIntentStream(provider.id, second.id)), ['ProviderIntentOwned'])
})

t.test('of several a paid one comes first, and what is paid is never canceled', async (t) => {
  const id = await paymentWithLostResponse(t, { done: true })
  const [pending] = stage.of(id)
  const more = () => stage.make({ payment_id: id })
  const [processing, paid, canceled] = [more(), more(), more()]
  processing.status = 'processing'
  canceled.status = 'canceled'
  stage.charge(paid)
  stage.failures.set('create', [{ kind: 'unknown' }])
  const { payment } = await reconcile(id)
  t.equal(payment.provider_intent_id, paid.id)
  t.equal(payment.status, 'succeeded')
  t.equal(pending?.status, 'canceled')
  t.equal(processing.status, 'processing')
  t.same(
    stage.calls.filter((call) => call.startsWith('cancel')),
    [`cancel ${pending?.id}`],
  )
})

t.test('nothing found and nothing answered stays unknown, and is recorded once', async (t) => {
  const id = await paymentWithLostResponse(t, { done: false })
  for (let n = 0; n < 2; n++) {
    stage.failures.set('create', [{ kind: 'unknown' }])
    const { finding, payment } = await reconcile(id)
    t.equal(finding, 'unknown')
    t.equal(payment.status, 'pending')
  }
  t.same(await typesOf(paymentStream(id)), ['PaymentInitiated', 'ProviderOutcomeUnknown'])
  t.equal((await reconcile(id)).finding, 'late')
})

t.test('a key that the provider may have forgotten is not used before a search', async (t) => {
  const id = await paymentWithLostResponse(t, { done: true })
  stage.byKey.clear()
  // PayPal forgets a key after six hours, and the search has to come before that.
  later(5 * 60 * aMinute + aMinute)
  const { finding, payment } = await reconcile(id)
  t.equal(finding, 'late')
  t.equal(payment.provider_intent_id, stage.of(id)[0]?.id)
  t.equal(stage.of(id).length, 1)
  t.equal(stage.calls[0], `find ${id}`)
  t.notOk(stage.calls.some((call) => call.startsWith('create')))
})

t.test('after a search in vain an old call is made again', async (t) => {
  const id = await paymentWithLostResponse(t, { done: false })
  later(aDay)
  t.equal((await reconcile(id)).finding, 'late')
  t.same(stage.calls.slice(0, 2), [`find ${id}`, `create ${id}`])
  t.equal(stage.of(id).length, 1)
})

t.test('an old call is not made again while the search is not answered', async (t) => {
  const id = await paymentWithLostResponse(t, { done: true })
  stage.byKey.clear()
  later(aDay)
  for (const kind of ['unavailable', 'unknown'] as const) {
    stage.failures.set('find', [{ kind }])
    const { finding, problem } = await reconcile(id)
    t.equal(finding, kind === 'unknown' ? 'unknown' : 'unreachable')
    t.equal(problem, `find_${kind}`)
  }
  t.equal(stage.of(id).length, 1)
})

t.test(
  'when another process finishes the call meanwhile, its intent stays, and the one found beside it goes',
  async (t) => {
    const id = await paymentWithLostResponse(t, { done: true })
    const [known] = stage.of(id)
    const paid = stage.make({ payment_id: id })
    if (known) known.status = 'failed'
    stage.failures.set('create', [{ kind: 'unknown' }])
    stage.meanwhile = async (call) => {
      if (!call.startsWith('find')) return
      stage.meanwhile = undefined
      await reconcile(id)
    }
    const { payment } = await reconcile(id)
    t.equal(payment.provider_intent_id, known?.id, 'the other process had the answer to the call')
    t.equal(paid.status, 'canceled')
    t.not(known?.status, 'canceled')
    t.equal((await typesOf(paymentStream(id))).filter((type) => type === 'ProviderIntentCreated').length, 1)
  },
)

t.test('many processes that finish one call at once make one intent and one record', async (t) => {
  const id = await paymentWithLostResponse(t, { done: false })
  const findings = await Promise.all(Array.from({ length: 8 }, () => reconcile(id)))
  t.ok(findings.every(({ payment }) => payment.provider_intent_id === stage.of(id)[0]?.id))
  t.equal(stage.of(id).length, 1)
  t.same(await typesOf(paymentStream(id)), ['PaymentInitiated', 'ProviderOutcomeUnknown', 'ProviderIntentCreated'])
})

t.test('a provider that is not enabled any more is not asked', async (t) => {
  const id = await paymentWithLostResponse(t, { done: true })
  providers.clear()
  t.match(await reconcile(id), { finding: 'unreachable', problem: 'provider_not_enabled', status_before: 'pending' })
  t.same(stage.calls, [])
})

t.test('a call that was refused is at its end', async (t) => {
  stage.failures.set('create', [{ kind: 'unavailable' }])
  const { payment_id } = await open()
  later(aMinute)
  t.equal((await reconcile(payment_id)).finding, 'same')
  t.same(stage.calls, [`create ${payment_id}`])
})

t.test('a further attempt is finished with the key of that attempt', async (t) => {
  const request = { payment_id: randomUUIDv7(), request_fingerprint: 'f' }
  stage.failures.set('create', [{ kind: 'unavailable' }, { kind: 'unknown', done: true }])
  t.equal((await open(request)).status, 'failed')
  later(aMinute)
  t.equal((await open(request)).status, 'pending')
  const { finding, payment } = await reconcile(request.payment_id)
  t.equal(finding, 'late')
  t.equal(payment.attempt, 2)
  const begun = stage.requests.at(-1)?.created_at ?? ''
  t.equal(begun, payment.attempt_started_at, 'and the provider is asked about what came of it')
  t.ok(Date.parse(begun) - Date.parse(payment.created_at) >= aMinute)
  const key = request.payment_id
  t.same(stage.calls.slice(0, 3), [`create ${key}`, `create ${key}-2`, `create ${key}-2`])
  t.equal(stage.of(key).length, 1)
})
