// Payments at Authorize.Net after they were paid: what we record equals the money at the gateway.
import { randomUUID } from 'node:crypto'
import type { CaptureMethod } from '@paylog/domain/payments/events'
import { receivedOf, refundedOf } from '@paylog/domain/payments/money'
import { existingPayment, type PaymentState } from '@paylog/domain/payments/payment'
import { newFindableId } from '@paylog/providers/findableId'
import { paymentFields } from '@paylog/testing/paymentFields'
import { cancelPayment, capturePayment } from '@paylog/workflows/payments/intentCalls'
import { openPayment } from '@paylog/workflows/payments/openPayment'
import { createRefresh } from '@paylog/workflows/payments/refreshPayment'
import { refundPayment } from '@paylog/workflows/payments/refundPayment'
import t from 'tap'
import { authorizeNetHarness, type OpenedPayment } from '../testing/receiverHarness.ts'

const gateway = await authorizeNetHarness(t)
const { fake, deliver, notificationOf, pay, workflow, reconcile, time } = gateway
const metadata = { correlationId: 'test', causationId: 'test', actor: 'admin' }

async function open(capture_method: CaptureMethod = 'automatic'): Promise<OpenedPayment> {
  const command = async () => ({
    ...paymentFields,
    payment_id: newFindableId(),
    occurred_at: time.now().toISOString(),
    provider_id: 'authorize-net',
    total_cents: 2599,
    currency: 'USD',
    payer: { id: null, type: 'anonymous', email: null },
    capture_method,
  })
  const { payment } = await openPayment(workflow, { earlier: null, command, metadata })
  const { payment_id: id, provider_intent_id: intent, client_secret: secret } = payment
  if (intent === null || secret === null) throw new Error('no token')
  return { id, intent, secret }
}

async function paid(): Promise<OpenedPayment & { readonly transId: string }> {
  const payment = await open()
  const { event, transId } = pay(payment)
  await deliver(event)
  return { ...payment, transId }
}

const refund = ({ id }: OpenedPayment, amount_cents?: number, refund_id: string = randomUUID()) =>
  refundPayment(workflow, {
    payment_id: id,
    refund_id,
    amount_cents,
    reason: 'requested_by_customer',
    note: null,
    request_fingerprint: 'same',
    metadata,
  })

function sameMoney(t: Parameters<typeof gateway.assertSettlesAs>[0], state: PaymentState, { intent }: OpenedPayment) {
  const payment = existingPayment(state)
  const money = { received_cents: receivedOf(payment), refunded_cents: refundedOf(payment) }
  t.same(money, fake.moneyOf(intent))
  return money
}

t.test('a whole refund before settlement is a void, and its notification changes nothing', async (t) => {
  const payment = await paid()
  const before = fake.events.length
  const refunded = await refund(payment)
  t.match(refunded.refund, {
    status: 'succeeded',
    provider_refund_id: payment.transId,
    reason: 'requested_by_customer',
  })
  await deliver(...fake.events.slice(before))
  const { payment: state, finding } = await reconcile(payment.id)
  t.equal(finding, 'same')
  t.equal(state.refunds.length, 1)
  t.same(sameMoney(t, state, payment), { received_cents: 2599, refunded_cents: 2599 })
})

t.test('a part is not refundable before settlement, and nothing is recorded', async (t) => {
  const payment = await paid()
  await t.rejects(refund(payment, 1000), {
    name: 'DomainError',
    code: 'payment_not_refundable',
    details: { settles_at: String },
  })
  t.same((await reconcile(payment.id)).payment.refunds, [])
  fake.settle()
  t.match((await refund(payment, 1000)).refund, { status: 'succeeded', amount_cents: 1000 })
  t.match((await refund(payment, 1000)).refund, { status: 'succeeded' }, 'the same amount again')
  await t.rejects(refund(payment, 600), { code: 'refund_exceeds_payment' })
  sameMoney(t, (await reconcile(payment.id)).payment, payment)
})

t.test('a refund whose response was lost is found later, and made once', async (t) => {
  for (const commits of [true, false]) {
    const payment = await paid()
    fake.settle()
    const refund_id = randomUUID()
    fake.faults.next({ kind: 'drop', commits })
    await t.rejects(refund(payment, 1000, refund_id), { code: 'provider_outcome_unknown' })
    time.now = () => new Date(Date.now() + 60_000)
    t.match((await refund(payment, 1000, refund_id)).refund, { status: 'succeeded', refund_id })
    time.now = () => new Date()
    const { payment: state } = await reconcile(payment.id)
    t.equal(state.refunds.length, 1)
    t.same(sameMoney(t, state, payment), { received_cents: 2599, refunded_cents: 1000 })
  }
})

t.test('refunds of the merchant and ours appear once each, in any order of their notifications', async (t) => {
  const payment = await paid()
  fake.settle()
  const before = fake.events.length
  fake.refund(payment.transId, 500)
  await refund(payment, 1000)
  const events = fake.events.slice(before)
  await deliver(...events.toReversed(), ...events)
  const { payment: state } = await reconcile(payment.id)
  t.equal(state.refunds.length, 2)
  t.same(sameMoney(t, state, payment), { received_cents: 2599, refunded_cents: 1500 })
})

t.test('a refund of the merchant that is voided has failed', async (t) => {
  const payment = await paid()
  fake.settle()
  const event = notificationOf(() => fake.refund(payment.transId, 500))
  await deliver(event)
  const made = fake.transactions.at(-1)
  await deliver(notificationOf(() => fake.voidTransaction(made?.transId ?? '')))
  const { payment: state } = await reconcile(payment.id)
  t.match(state.refunds, [{ status: 'failed', failure_code: 'voided' }])
  t.same(sameMoney(t, state, payment), { received_cents: 2599, refunded_cents: 0 })
})

t.test('a returned eCheck is a refund as soon as the gateway is asked', async (t) => {
  const payment = await paid()
  fake.settle()
  fake.returnCheck(payment.transId)
  const { payment: state } = await reconcile(payment.id)
  t.match(state.refunds, [{ amount_cents: 2599, reason: 'other', note: 'returnedItem R01 Insufficient Funds' }])
  sameMoney(t, state, payment)
  t.equal((await reconcile(payment.id)).finding, 'same')
})

t.test('an unpaid payment is canceled, and money that still arrives is recorded', async (t) => {
  const payment = await open()
  const canceled = await cancelPayment(workflow, { payment_id: payment.id, metadata, reason: 'changed my mind' })
  t.equal(existingPayment(canceled.state).status, 'canceled')
  t.match(await reconcile(payment.id), { finding: 'same', payment: { status: 'canceled' } })
  await deliver(pay(payment).event)
  const { payment: state } = await reconcile(payment.id)
  t.equal(state.status, 'canceled')
  t.same(sameMoney(t, state, payment), { received_cents: 2599, refunded_cents: 0 })
  t.match((await refund(payment)).refund, { status: 'succeeded' })
  sameMoney(t, (await reconcile(payment.id)).payment, payment)
})

t.test('a payer who was faster is not canceled', async (t) => {
  const payment = await open()
  pay(payment)
  const canceling = cancelPayment(workflow, { payment_id: payment.id, metadata, reason: null })
  await t.rejects(canceling, { code: 'payment_not_cancelable' })
  t.equal((await reconcile(payment.id)).payment.status, 'succeeded')
})

t.test('an authorized payment is captured in part, or voided', async (t) => {
  const payment = await open('manual')
  await deliver(pay(payment).event)
  const { payment: authorized } = await reconcile(payment.id)
  t.match(authorized, { status: 'processing', capturable_cents: 2599 })
  const captured = await capturePayment(workflow, { payment_id: payment.id, metadata, amount_cents: 1000 })
  t.same(sameMoney(t, captured.state, payment), { received_cents: 1000, refunded_cents: 0 })
  const other = await open('manual')
  await deliver(pay(other).event)
  const canceled = await cancelPayment(workflow, { payment_id: other.id, metadata, reason: null })
  t.equal(existingPayment(canceled.state).status, 'canceled')
  t.same(sameMoney(t, canceled.state, other), { received_cents: 0, refunded_cents: 0 })
})

t.test('a refresh replaces an expired token, and the payer can pay with the new one', async (t) => {
  const payment = await open()
  const token = async () => {
    const { state } = await createRefresh(workflow)(payment.id, metadata)
    return existingPayment(state).client_secret
  }
  t.equal(await token(), payment.secret, 'not expired')
  fake.advance(16 * 60_000)
  time.now = () => new Date(fake.now())
  t.teardown(() => {
    time.now = () => new Date()
  })
  const secret = await token()
  t.not(secret, payment.secret)
  await deliver(pay({ ...payment, secret: secret ?? '' }).event)
  const { payment: state } = await reconcile(payment.id)
  t.equal(state.status, 'succeeded')
  sameMoney(t, state, payment)
})
