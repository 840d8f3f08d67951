import { randomUUIDv7 } from 'node:crypto'
import { receivedOf, refundedOf } from '@paylog/domain/payments/charges'
import { paymentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { createFakeProvider } from '../testing/fakeProvider.ts'
import { fails } from '../testing/fakeSteps.ts'
import { crashAfter, crashes, metadata, workflowHarness } from '../testing/workflowHarness.ts'
import { reconcilePayment } from './reconcilePayment.ts'
import { createRefresh } from './refreshPayment.ts'
import { refundPayment } from './refundPayment.ts'

const { provider, fake } = createFakeProvider(t)
const { workflow, store, keys, time, open, notify, typesOf, advance: later } = await workflowHarness(t, provider)

async function paidPayment(options: Parameters<typeof open>[0] = {}) {
  const { payment_id } = await open(options)
  const intent = fake.onlyOf(payment_id)
  fake.charge(intent)
  await reconcilePayment(workflow, payment_id, metadata)
  fake.calls.length = 0
  return { payment_id, intent }
}

type Refund = {
  readonly amount_cents?: number
  readonly refund_id?: string
  readonly request_fingerprint?: string
  readonly refund_limit_cents?: number
}

const refund = (
  payment_id: string,
  { refund_id = randomUUIDv7(), amount_cents, ...more }: Refund = {},
  on = workflow,
) =>
  refundPayment(on, {
    payment_id,
    refund_id,
    amount_cents,
    reason: 'requested_by_customer',
    note: null,
    request_fingerprint: null,
    refund_limit_cents: null,
    metadata,
    ...more,
  })
const moneyOf = async (payment_id: string) => {
  const { payment } = await reconcilePayment(workflow, payment_id, metadata)
  return { received: receivedOf(payment), refunded: refundedOf(payment) }
}

t.test('a refund is two appends and one call, and gives back what was asked', async (t) => {
  const { payment_id, intent } = await paidPayment()
  const { refund: made } = await refund(payment_id, { amount_cents: 500 })
  t.match(made, { status: 'succeeded', amount_cents: 500, provider_refund_id: String, reason: 'requested_by_customer' })
  t.same((await typesOf(paymentStream(payment_id))).slice(-2), ['RefundRequested', 'RefundRecorded'])
  t.same(fake.calls, [`refund ${made.refund_id}`])
  t.equal(intent.refunds.length, 1)
  t.same(await moneyOf(payment_id), { received: 2599, refunded: 500 })
})

t.test(
  'a refund of a payment whose intent is not recorded yet stays pending, also where refunds are checked',
  async (t) => {
    fake.failures.set('create', [{ kind: 'unknown', done: true }])
    const { payment_id } = await open()
    const intent = fake.onlyOf(payment_id)
    await notify(intent, 'succeeded', fake.charge(intent))
    const checking = { ...provider, checkRefund: async () => undefined }
    const on = { ...workflow, providers: new Map([[provider.id, checking]]) }
    await t.rejects(refund(payment_id, {}, on), { name: 'DomainError', code: 'provider_outcome_unknown' })
    later(60_000)
    t.same(await moneyOf(payment_id), { received: 2599, refunded: 2599 }, 'the reconciler finishes it')
  },
)

t.test('many refunds at once never give back more than was received', async (t) => {
  const { payment_id, intent } = await paidPayment()
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => refund(payment_id, { amount_cents: 1000 })))
  const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
  t.same(codes, Array(6).fill('refund_exceeds_payment'))
  t.equal(intent.refunds.length, 2)
  t.same(await moneyOf(payment_id), { received: 2599, refunded: 2000 })
})

t.test('a refund of the rest does not get around its limit when another refund fails meanwhile', async (t) => {
  const { payment_id, intent } = await paidPayment()
  const started = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  fake.before = async (call) => {
    started.resolve()
    await ended.promise
    await fails('declined')(call)
  }
  const reserving = refund(payment_id, { amount_cents: 2000 })
  await started.promise
  const checkRefund = async () => {
    ended.resolve()
    await t.rejects(reserving, { code: 'payment_declined' })
  }
  const on = { ...workflow, providers: new Map([[provider.id, { ...provider, checkRefund }]]) }
  await t.rejects(refund(payment_id, { refund_limit_cents: 600 }, on), {
    code: 'forbidden',
    details: { right: 'refund', limit_cents: 600 },
  })
  t.same(intent.refunds, [], 'there were 599 left when it was checked')
})

t.test('a repeated request with the same key makes one refund, and another amount is rejected', async (t) => {
  const { payment_id, intent } = await paidPayment()
  const key = { refund_id: randomUUIDv7(), request_fingerprint: 'first' }
  const first = await refund(payment_id, { ...key, amount_cents: 500 })
  const again = await refund(payment_id, { ...key, amount_cents: 500 })
  t.match([first.replayed, again.replayed], [false, true])
  t.same(again.refund, first.refund)
  t.equal(intent.refunds.length, 1)
  const other = refund(payment_id, { ...key, request_fingerprint: 'other', amount_cents: 600 })
  await t.rejects(other, { code: 'idempotency_key_reused' })
})

t.test(
  "a repeated refund of an erased payer's payment is the same refund, and another amount is rejected",
  async (t) => {
    const { payment_id, intent } = await paidPayment({ payer: { id: null, type: 'guest', email: 'kim@example.com' } })
    const [initiated] = await store.readStream(paymentStream(payment_id))
    await keys.destroy([initiated?.sealed.personal?.[0] ?? ''])
    const same = { refund_id: randomUUIDv7(), request_fingerprint: 'a' }
    for (const amount_cents of [500, 500, undefined]) {
      const repeated = await refund(payment_id, { ...same, ...(amount_cents && { amount_cents }) })
      t.match(repeated.refund, { status: 'succeeded', amount_cents: 500 })
    }
    await t.rejects(refund(payment_id, { ...same, amount_cents: 501 }), { code: 'idempotency_key_reused' })
    t.equal(intent.refunds.length, 1)
  },
)

t.test('a refund whose response was lost is finished once, by the request or by the reconciler', async (t) => {
  for (const done of [true, false])
    for (const repeats of ['the request', 'the reconciler']) {
      const { payment_id, intent } = await paidPayment()
      const key = { refund_id: randomUUIDv7(), request_fingerprint: 'first', amount_cents: 500 }
      fake.failures.set('refund', [{ kind: 'unknown', done }])
      await t.rejects(refund(payment_id, key), {
        code: 'provider_outcome_unknown',
        details: { payment_id, refund_id: key.refund_id },
      })
      await t.rejects(refund(payment_id, { amount_cents: 2200 }), { code: 'refund_exceeds_payment' })
      if (repeats === 'the request') t.match(await refund(payment_id, key), { refund: { status: 'succeeded' } })
      t.same(await moneyOf(payment_id), { received: 2599, refunded: 500 }, `${repeats}, done: ${done}`)
      t.equal(intent.refunds.length, 1)
    }
})

t.test('a payment is reported as unknown while the outcome of its refund is', async (t) => {
  const { payment_id } = await paidPayment()
  fake.failures.set('refund', Array(3).fill({ kind: 'unknown' }))
  await t.rejects(refund(payment_id), { code: 'provider_outcome_unknown' })
  for (let looks = 0; looks < 2; looks++)
    t.match(await reconcilePayment(workflow, payment_id, metadata), { finding: 'unknown', problem: undefined })
  await createRefresh(workflow)(payment_id, metadata)
  const { finding } = await reconcilePayment(workflow, payment_id, metadata)
  t.equal(finding, 'same', 'the refresh has finished it')
})

t.test('a crash at any point of a refund gives the money back once', async (t) => {
  for (const appends of [0, 1]) {
    const { payment_id, intent } = await paidPayment()
    t.ok(await crashes(refund(payment_id, { amount_cents: 500 }, crashAfter(appends, workflow))))
    t.equal(intent.refunds.length, appends)
    later(60_000)
    t.same(await moneyOf(payment_id), { received: 2599, refunded: appends === 0 ? 0 : 500 })
    t.equal(intent.refunds.length, appends)
    time.now = () => new Date()
  }
})

t.test('a rejected refund frees its amount, and one that was not reached can be repeated', async (t) => {
  const { payment_id } = await paidPayment()
  fake.failures.set('refund', [{ kind: 'rejected' }, { kind: 'unavailable' }])
  await t.rejects(refund(payment_id), { code: 'provider_rejected', details: { payment_id } })
  const key = { refund_id: randomUUIDv7(), request_fingerprint: 'key' }
  await t.rejects(refund(payment_id, key), { code: 'provider_unavailable' })
  t.match(await refund(payment_id, key), { refund: { status: 'succeeded', amount_cents: 2599 } })
  t.same(await moneyOf(payment_id), { received: 2599, refunded: 2599 })
})

t.test('a refund from the dashboard is recorded once, and counts before ours', async (t) => {
  const { payment_id, intent } = await paidPayment()
  const about = { provider_intent_id: intent.id, provider_payment_id: intent.charges[0] ?? null, amount_cents: 2000 }
  fake.refund(about)
  t.same(await moneyOf(payment_id), { received: 2599, refunded: 2000 })
  t.same(await moneyOf(payment_id), { received: 2599, refunded: 2000 })
  await t.rejects(refund(payment_id, { amount_cents: 600 }), { code: 'refund_exceeds_payment' })
  // Made at the provider, and not known here yet.
  fake.refund({ ...about, amount_cents: 500 })
  await t.rejects(refund(payment_id, { amount_cents: 599 }), { code: 'provider_rejected' })
  t.same(await moneyOf(payment_id), { received: 2599, refunded: 2500 })
})

t.test('a payment that received nothing cannot be refunded, and an unknown one is not found', async (t) => {
  const { payment_id } = await open()
  await t.rejects(refund(payment_id), { code: 'payment_not_refundable' })
  await t.rejects(refund(randomUUIDv7()), { code: 'not_found' })
  t.same(await typesOf(paymentStream(payment_id)), ['PaymentInitiated', 'ProviderIntentCreated'])
})
