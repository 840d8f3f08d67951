import { randomUUIDv7 } from 'node:crypto'
import { paymentStream } from '@paylog/event-store/streamName'
import t, { type Test } from 'tap'
import { receiveNotification } from '../notifications/notifications.ts'
import { createFakeProvider } from '../testing/fakeProvider.ts'
import { crashAfter, metadata, workflowHarness } from '../testing/workflowHarness.ts'
import { reconcilePayment } from './reconcilePayment.ts'

const { provider, fake } = createFakeProvider(t)
const { workflow, providers, open, typesOf, eventsOf, advance: later } = await workflowHarness(t, provider)

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

t.beforeEach(() => fake.intents.clear())

/** Opens a payment whose create call has an unknown outcome. */
async function paymentWithLostResponse(t: Test, { done }: { readonly done: boolean }): Promise<string> {
  fake.failures.set('create', [{ kind: 'unknown', done }])
  const { payment_id } = await open()
  t.same(await typesOf(paymentStream(payment_id)), ['PaymentInitiated', 'ProviderCallFailed'])
  fake.calls.length = 0
  return payment_id
}
const reconcile = (paymentId: string) => reconcilePayment(workflow, paymentId, metadata)

/** Where a process crashes, with the number of calls that it has made. */
const crashPoints = { 'before the call': { calls: 0 }, 'after the call': { calls: 1 } }

async function crashedRequest({ calls }: (typeof crashPoints)[keyof typeof crashPoints]): Promise<string> {
  const id = randomUUIDv7()
  const createIntent = async () => {
    throw new Error('the process died here')
  }
  if (calls === 0) providers.set(provider.id, { ...provider, createIntent })
  const opening = open({ on: crashAfter(1, workflow), payment_id: id })
  await opening.then(
    () => Promise.reject(new Error('the process did not crash')),
    () => undefined,
  )
  providers.set(provider.id, provider)
  fake.calls.length = 0
  return id
}

for (const [where, crash] of Object.entries(crashPoints))
  t.test(`a payment is finished with one intent after a crash ${where}`, async (t) => {
    const id = await crashedRequest(crash)
    t.same(await typesOf(paymentStream(id)), ['PaymentInitiated'])
    t.equal(fake.of(id).length, crash.calls)
    later(minuteMs)
    const { finding, payment } = await reconcile(id)
    t.equal(finding, 'late')
    t.equal(payment.status, 'pending')
    t.same(await typesOf(paymentStream(id)), ['PaymentInitiated', 'ProviderIntentCreated'])
    const [intent, ...more] = fake.of(id)
    t.same(more, [], 'one intent')
    t.equal(payment.provider_intent_id, intent?.id)
    t.equal(payment.client_secret, `${intent?.id}_secret`)
    t.equal((await reconcile(id)).finding, 'same')
  })

t.test('a create call that may still be running is not repeated', async (t) => {
  const id = await crashedRequest(crashPoints['after the call'])
  later(15_000)
  t.equal((await reconcile(id)).finding, 'same')
  t.same(fake.calls, [])
  later(21_000)
  t.equal((await reconcile(id)).finding, 'late')
})

t.test('a create call with an unknown outcome is repeated with the same key', async (t) => {
  for (const done of [true, false]) {
    const id = await paymentWithLostResponse(t, { done })
    const { finding, payment } = await reconcile(id)
    t.equal(finding, 'late')
    t.equal(payment.create.outcome, 'done')
    t.equal(fake.calls[0], `create ${id}`)
    t.equal(fake.of(id).length, 1)
    t.same((await typesOf(paymentStream(id))).slice(2), ['ProviderIntentCreated'])
  }
})

t.test('a create call with an unknown outcome fails the payment when its repetition is declined', async (t) => {
  const id = await paymentWithLostResponse(t, { done: false })
  fake.failures.set('create', [{ kind: 'declined' }])
  const { finding, payment } = await reconcile(id)
  t.equal(finding, 'late')
  t.equal(payment.status, 'failed')
  t.match((await eventsOf(id)).at(-1), { type: 'ProviderCallFailed', data: { error_code: 'payment_declined' } })
})

t.test('an unreachable provider does not fail a payment with an unknown outcome', async (t) => {
  const id = await paymentWithLostResponse(t, { done: true })
  fake.failures.set('create', [{ kind: 'unavailable' }])
  fake.failures.set('find', [{ kind: 'unavailable' }])
  const { finding, payment, problem } = await reconcile(id)
  t.equal(finding, 'unreachable')
  t.equal(problem, 'find_unavailable')
  t.equal(payment.status, 'pending')
  t.equal(payment.create.outcome, 'unknown')
  t.equal((await typesOf(paymentStream(id))).length, 2, 'nothing is recorded')
})

t.test('an unreachable provider does not fail a payment whose process crashed', async (t) => {
  const id = await crashedRequest(crashPoints['after the call'])
  later(minuteMs)
  fake.failures.set('create', [{ kind: 'unavailable' }])
  fake.failures.set('find', [{ kind: 'unavailable' }])
  t.match(await reconcile(id), { finding: 'unreachable', payment: { status: 'pending' } })
  t.same(await typesOf(paymentStream(id)), ['PaymentInitiated', 'ProviderCallFailed'])
})

t.test(
  'when the repeated create call fails, a found intent is adopted and other payable ones are canceled',
  async (t) => {
    const id = await paymentWithLostResponse(t, { done: true })
    const [first] = fake.of(id)
    const [second, third] = [0, 1].map(() => fake.make({ payment_id: id }))
    if (!first || !second || !third) throw new Error('expected three intents')
    second.status = 'processing'
    third.status = 'failed'
    fake.failures.set('create', [{ kind: 'unknown' }])
    const { finding, payment } = await reconcile(id)
    t.equal(finding, 'late')
    t.equal(payment.provider_intent_id, second.id, 'the one that may already be paid')
    t.equal(payment.client_secret, `${second.id}_secret`)
    t.equal(payment.status, 'processing')
    t.same([first.status, third.status], ['canceled', 'canceled'])
    t.same(
      fake.calls.map((call) => call.split(' ')[0]),
      ['create', 'find', 'cancel', 'cancel', 'retrieve'],
    )
    t.same((await typesOf(paymentStream(id))).slice(2), ['ProviderIntentCreated', 'PaymentProcessingStarted'])
  },
)

t.test('of several found intents a paid one is adopted, and only payable ones are canceled', async (t) => {
  const id = await paymentWithLostResponse(t, { done: true })
  const [pending] = fake.of(id)
  const more = () => fake.make({ payment_id: id })
  const [processing, paid, canceled] = [more(), more(), more()]
  processing.status = 'processing'
  canceled.status = 'canceled'
  fake.charge(paid)
  fake.failures.set('create', [{ kind: 'unknown' }])
  const { payment } = await reconcile(id)
  t.equal(payment.provider_intent_id, paid.id)
  t.equal(payment.status, 'succeeded')
  t.equal(pending?.status, 'canceled')
  t.equal(processing.status, 'processing')
  t.same(
    fake.calls.filter((call) => call.startsWith('cancel')),
    [`cancel ${pending?.id}`],
  )
})

t.test('an outcome that stays unknown is recorded once', async (t) => {
  const id = await paymentWithLostResponse(t, { done: false })
  for (let n = 0; n < 2; n++) {
    fake.failures.set('create', [{ kind: 'unknown' }])
    const { finding, payment } = await reconcile(id)
    t.equal(finding, 'unknown')
    t.equal(payment.status, 'pending')
  }
  t.same(await typesOf(paymentStream(id)), ['PaymentInitiated', 'ProviderCallFailed'])
  t.equal((await reconcile(id)).finding, 'late')
})

t.test('a create call whose key may have expired is not repeated before a search', async (t) => {
  const id = await paymentWithLostResponse(t, { done: true })
  fake.byKey.clear()
  // PayPal keeps a key for six hours, so we must search before that.
  later(5 * 60 * minuteMs + minuteMs)
  const { finding, payment } = await reconcile(id)
  t.equal(finding, 'late')
  t.equal(payment.provider_intent_id, fake.of(id)[0]?.id)
  t.equal(fake.of(id).length, 1)
  t.equal(fake.calls[0], `find ${id}`)
  t.notOk(fake.calls.some((call) => call.startsWith('create')))
})

t.test('an old create call is repeated when the search finds no intent', async (t) => {
  const id = await paymentWithLostResponse(t, { done: false })
  later(dayMs)
  t.equal((await reconcile(id)).finding, 'late')
  t.same(fake.calls.slice(0, 2), [`find ${id}`, `create ${id}`])
  t.equal(fake.of(id).length, 1)
})

t.test('an old create call is not repeated while the search fails', async (t) => {
  const id = await paymentWithLostResponse(t, { done: true })
  fake.byKey.clear()
  later(dayMs)
  for (const kind of ['unavailable', 'unknown'] as const) {
    fake.failures.set('find', [{ kind }])
    const { finding, problem } = await reconcile(id)
    t.equal(finding, kind === 'unknown' ? 'unknown' : 'unreachable')
    t.equal(problem, `find_${kind}`)
  }
  t.equal(fake.of(id).length, 1)
})

t.test(
  'when another process finishes the call first, its intent is kept and the found duplicate is canceled',
  async (t) => {
    const id = await paymentWithLostResponse(t, { done: true })
    const [first] = fake.of(id)
    const paid = fake.make({ payment_id: id })
    if (first) first.status = 'failed'
    fake.failures.set('create', [{ kind: 'unknown' }])
    fake.meanwhile = async (call) => {
      if (!call.startsWith('find')) return
      fake.meanwhile = undefined
      await reconcile(id)
    }
    const { payment } = await reconcile(id)
    t.equal(payment.provider_intent_id, first?.id, 'the intent of the other process')
    t.equal(paid.status, 'canceled')
    t.not(first?.status, 'canceled')
    t.equal((await typesOf(paymentStream(id))).filter((type) => type === 'ProviderIntentCreated').length, 1)
  },
)

t.test('concurrent reconciliations of one call create one intent and one event', async (t) => {
  const id = await paymentWithLostResponse(t, { done: false })
  const findings = await Promise.all(Array.from({ length: 8 }, () => reconcile(id)))
  t.ok(findings.every(({ payment }) => payment.provider_intent_id === fake.of(id)[0]?.id))
  t.equal(fake.of(id).length, 1)
  t.same(await typesOf(paymentStream(id)), ['PaymentInitiated', 'ProviderCallFailed', 'ProviderIntentCreated'])
})

t.test('a payment of a disabled provider is reported unreachable without a call', async (t) => {
  const id = await paymentWithLostResponse(t, { done: true })
  providers.clear()
  t.match(await reconcile(id), { finding: 'unreachable', problem: 'provider_not_enabled', status_before: 'pending' })
  t.same(fake.calls, [])
})

t.test('a rejected create call is not repeated', async (t) => {
  fake.failures.set('create', [{ kind: 'unavailable' }])
  const { payment_id } = await open()
  later(minuteMs)
  t.equal((await reconcile(payment_id)).finding, 'same')
  t.same(fake.calls, [`create ${payment_id}`])
})

t.test('a second intent attempt is finished with its own key', async (t) => {
  const request = { payment_id: randomUUIDv7(), request_fingerprint: 'f' }
  fake.failures.set('create', [{ kind: 'unavailable' }, { kind: 'unknown', done: true }])
  t.equal((await open(request)).status, 'failed')
  later(minuteMs)
  t.equal((await open(request)).status, 'pending')
  const { finding, payment } = await reconcile(request.payment_id)
  t.equal(finding, 'late')
  t.equal(payment.create.attempt, 2)
  const started = fake.requests.at(-1)?.created_at ?? ''
  t.equal(started, payment.create.started_at, 'the snapshot is requested for the second attempt')
  t.ok(Date.parse(started) - Date.parse(payment.created_at) >= minuteMs)
  const key = request.payment_id
  t.same(fake.calls.slice(0, 3), [`create ${key}`, `create ${key}-2`, `create ${key}-2`])
  t.equal(fake.of(key).length, 1)
})

t.test('a payment that has succeeded adopts the reported intent where intents cannot be searched', async (t) => {
  const unsearchable = { ...provider, verifyNotification: async () => undefined, findIntents: null }
  providers.set(provider.id, unsearchable)
  const id = await paymentWithLostResponse(t, { done: true })
  const intent = fake.onlyOf(id)
  const source = { provider_event_id: `evt_${id}`, provider_time: new Date().toISOString() }
  const charge = { provider_intent_id: intent.id, provider_payment_id: fake.charge(intent) }
  const report = { about: 'status', status: 'succeeded', amount_cents: 2599, currency: 'EUR', ...source, ...charge }
  const notification = { ...source, occurred_at: source.provider_time, referenced_payment_id: id, report }
  const nothing = { generic_type: null, object_id: null, amount_cents: null, currency: null, status: null }
  const body = Buffer.from(JSON.stringify({ provider_type: 'paid', ...nothing, ...notification }))
  const reading = { ...unsearchable, readNotification: (received: Buffer) => JSON.parse(received.toString()) }
  await receiveNotification(workflow, { provider: reading, body, headers: {}, requestId: 'request' })
  fake.failures.set('create', [{ kind: 'unknown' }])
  t.match(await reconcile(id), { payment: { status: 'succeeded', provider_intent_id: intent.id } })
})
