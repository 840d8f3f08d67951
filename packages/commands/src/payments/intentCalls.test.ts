import { randomUUID } from 'node:crypto'
import { receivedOf } from '@paylog/domain/payments/charges'
import { paymentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { createFakeProvider } from '../testing/fakeProvider.ts'
import { crashAfter, crashes, metadata, workflowHarness } from '../testing/workflowHarness.ts'
import { cancelPayment, capturePayment, expirePayment } from './intentCalls.ts'
import { reconcilePayment } from './reconcilePayment.ts'
import { createRefresh } from './refreshPayment.ts'

const { provider, fake } = createFakeProvider(t, { captures: true })
const { workflow, providers, open, typesOf, advance: later } = await workflowHarness(t, provider)

const cancel = (payment_id: string, reason: string | null = null, on = workflow) =>
  cancelPayment(on, { payment_id, metadata, reason })
const capture = (payment_id: string, amount_cents?: number) =>
  capturePayment(workflow, { payment_id, metadata, amount_cents })
const reconcile = async (payment_id: string) => (await reconcilePayment(workflow, payment_id, metadata)).payment
async function authorizedPayment() {
  const { payment_id } = await open({ capture_method: 'manual' })
  const intent = fake.onlyOf(payment_id)
  fake.authorize(intent)
  await reconcile(payment_id)
  fake.calls.length = 0
  return { payment_id, intent }
}

t.test('a pending payment is canceled at the provider, once', async (t) => {
  const { payment_id } = await open()
  t.match(await cancel(payment_id, 'not needed'), { state: { status: 'canceled', requested: null } })
  t.match(await cancel(payment_id), { state: { status: 'canceled' } })
  const intent = fake.onlyOf(payment_id)
  t.equal(intent.status, 'canceled')
  t.same(fake.calls.slice(1), [`cancel ${intent.id}`])
  t.same((await typesOf(paymentStream(payment_id))).slice(-2), ['PaymentCancelRequested', 'PaymentCanceled'])
})

t.test('the payer who is faster than a cancellation has paid', async (t) => {
  const { payment_id } = await open()
  fake.charge(fake.onlyOf(payment_id))
  await t.rejects(cancel(payment_id), { code: 'payment_not_cancelable', details: { status: 'succeeded' } })
  t.match(await reconcile(payment_id), { status: 'succeeded', attention: [] })
})

t.test('an approved payment that is being canceled is not captured', async (t) => {
  const { payment_id } = await open()
  const intent = fake.onlyOf(payment_id)
  fake.failures.set('cancel', [{ kind: 'unknown' }])
  await t.rejects(cancel(payment_id), { code: 'provider_outcome_unknown' })
  fake.approve(intent)
  t.match(await reconcile(payment_id), { status: 'canceled' })
  t.same(intent.charges, [])
})

t.test('a cancellation whose outcome is unknown is finished by a repetition or the reconciler', async (t) => {
  for (const done of [true, false]) {
    const { payment_id } = await open()
    fake.failures.set('cancel', [{ kind: 'unknown', done }])
    await t.rejects(cancel(payment_id), { code: 'provider_outcome_unknown', details: { payment_id } })
    t.match(await cancel(payment_id), { state: { status: 'canceled' } })
    const { payment_id: other } = await open()
    fake.failures.set('cancel', [{ kind: 'unknown', done }])
    await t.rejects(cancel(other), { code: 'provider_outcome_unknown' })
    t.match(await reconcile(other), { status: 'canceled' })
  }
})

t.test('a crash during a cancellation leaves it to the reconciler', async (t) => {
  const { payment_id } = await open()
  t.ok(await crashes(cancel(payment_id, null, crashAfter(1, workflow))))
  t.match(await reconcile(payment_id), { status: 'canceled', requested: null }, 'the provider has canceled it')
})

t.test('a payment whose create call has an unknown outcome is canceled when its intent is found', async (t) => {
  fake.failures.set('create', [{ kind: 'unknown', done: true }])
  const { payment_id } = await open()
  await t.rejects(cancel(payment_id), { code: 'provider_outcome_unknown' })
  t.match(await reconcile(payment_id), { status: 'canceled' })
  t.equal(fake.onlyOf(payment_id).status, 'canceled')
})

t.test('a payment whose create call was only throttled is canceled without a call', async (t) => {
  fake.failures.set('create', [{ kind: 'unavailable', rateLimit: true }])
  const { payment_id } = await open()
  fake.calls.length = 0
  t.match(await cancel(payment_id), { state: { status: 'canceled' } })
  t.same(fake.calls, [])
  t.match(await reconcile(payment_id), { status: 'canceled', provider_intent_id: null })
})

t.test('the key of a payment that was canceled before its create call was made finds that payment', async (t) => {
  const request = { payment_id: randomUUID(), request_fingerprint: 'same' }
  fake.failures.set('create', [{ kind: 'unavailable', rateLimit: true }])
  await open(request)
  await cancel(request.payment_id)
  fake.calls.length = 0
  t.match(await open(request), { payment_id: request.payment_id, status: 'canceled' })
  t.same(fake.calls, [])
})

t.test('a cancellation that did not reach the provider is 502, and can be repeated', async (t) => {
  const { payment_id } = await open()
  fake.failures.set('cancel', [{ kind: 'unavailable' }])
  await t.rejects(cancel(payment_id), { code: 'provider_unavailable' })
  t.match(await cancel(payment_id), { state: { status: 'canceled' } })
})

t.test('a throttled cancellation stays requested while the provider cannot be reached', async (t) => {
  const { payment_id } = await open()
  fake.failures.set('cancel', [{ kind: 'unavailable', rateLimit: true }, { kind: 'unavailable' }])
  const unavailable = { code: 'provider_unavailable', details: { payment_id } }
  await t.rejects(cancel(payment_id), unavailable)
  await t.rejects(cancel(payment_id), unavailable)
  t.match(await reconcile(payment_id), { status: 'canceled' })
})

t.test('an authorized payment is captured in part, and the rest is released', async (t) => {
  const { payment_id, intent } = await authorizedPayment()
  const { state } = await capture(payment_id, 1000)
  t.match(state, { status: 'succeeded', capturable_cents: 0, attention: [] })
  t.equal(receivedOf(await reconcile(payment_id)), 1000)
  t.equal(intent.charges.length, 1)
  await t.rejects(capture(payment_id), { code: 'payment_not_capturable' })
})

t.test('captures at once take the money once', async (t) => {
  const { payment_id, intent } = await authorizedPayment()
  const results = await Promise.allSettled([capture(payment_id), capture(payment_id), capture(payment_id)])
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  t.equal(intent.charges.length, 1)
})

t.test('a capture whose outcome is unknown is finished by the reconciler', async (t) => {
  for (const done of [true, false]) {
    const { payment_id, intent } = await authorizedPayment()
    fake.failures.set('capture', [{ kind: 'unknown', done }])
    await t.rejects(capture(payment_id), { code: 'provider_outcome_unknown' })
    t.match(await reconcile(payment_id), { status: 'succeeded' })
    t.equal(intent.charges.length, 1)
  }
})

t.test('an authorized payment is canceled, and can then not be captured', async (t) => {
  const { payment_id } = await authorizedPayment()
  t.match(await cancel(payment_id), { state: { status: 'canceled', capturable_cents: 0 } })
  await t.rejects(capture(payment_id), { code: 'payment_not_capturable' })
})

t.test('a capture of a payment that was canceled at the provider is payment_not_capturable', async (t) => {
  const { payment_id, intent } = await authorizedPayment()
  Object.assign(intent, { status: 'canceled', capturable_cents: 0 })
  await t.rejects(capture(payment_id), { code: 'payment_not_capturable', details: { status: 'canceled' } })
  t.match(await reconcile(payment_id), { status: 'canceled', attention: [] })
})

t.test('a payment expires only when nobody has paid it', async (t) => {
  const expires_at = new Date(Date.now() + 60_000).toISOString()
  const { payment_id } = await open({ expires_at })
  const { payment_id: paid } = await open({ expires_at })
  fake.charge(fake.onlyOf(paid))
  const expire = (id: string) => expirePayment(workflow, { payment_id: id, metadata })
  t.match(await expire(payment_id), { state: { status: 'pending' } })
  later(61_000)
  t.match(await expire(payment_id), { state: { status: 'canceled' } })
  t.match((await workflow.store.readStream(paymentStream(payment_id))).at(-1), { data: { reason: 'expired' } })
  t.match(await expire(paid), { state: { status: 'succeeded' } })
})

t.test('a refresh replaces an intent whose page has expired', async (t) => {
  const { payment_id } = await open()
  const old = fake.onlyOf(payment_id)
  fake.intents.delete(old.id)
  providers.set(provider.id, { ...provider, pagesExpire: true })
  const { state } = await createRefresh(workflow)(payment_id, metadata)
  t.match(state, { status: 'pending', create: { attempt: 2 }, provider_intent_id: fake.onlyOf(payment_id).id })
  t.match(fake.calls.at(-1), `create ${payment_id}-2`)
})
