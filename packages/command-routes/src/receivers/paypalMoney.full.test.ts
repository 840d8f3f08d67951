// Refunds, captures, cancellations and disputes of PayPal payments, against the balances of a fake PayPal.
import { paymentFold } from '@paylog/domain/payments/fold'
import { disputeStatusOf, receivedOf, refundedOf } from '@paylog/domain/payments/money'
import { existingPayment } from '@paylog/domain/payments/payment'
import { paymentStream } from '@paylog/event-store/streamName'
import { paymentFields } from '@paylog/testing/paymentFields'
import { cancelPayment, capturePayment } from '@paylog/workflows/payments/intentCalls'
import { openPayment } from '@paylog/workflows/payments/openPayment'
import { createRefresh } from '@paylog/workflows/payments/refreshPayment'
import { refundPayment } from '@paylog/workflows/payments/refundPayment'
import t from 'tap'
import { type OpenedPayment, ordersOf, paypalHarness } from '../testing/receiverHarness.ts'

const paypal = await paypalHarness(t)
const { fake, open, deliver, captureOf, captures, historyOf, reconcile, workflow, store } = paypal
const metadata = { correlationId: 'test', causationId: 'test', actor: 'admin' }
const newId = () => crypto.randomUUID()

t.beforeEach(() => fake.faults.always(undefined))

const stateOf = async (id: string) => existingPayment((await store.load(paymentStream(id), paymentFold)).state)

/** The money that is recorded, in the form of the fake's balance. */
async function recorded(id: string) {
  const payment = await stateOf(id)
  const { capturable_cents } = payment
  return { received_cents: receivedOf(payment), refunded_cents: refundedOf(payment), capturable_cents }
}

/** Asserts that the record agrees with PayPal, and that nobody has to look at it. */
async function assertAgrees(t: Parameters<typeof paypalHarness>[0], id: string, name = '') {
  t.same(await recorded(id), fake.balanceOf(id), name)
  t.same((await stateOf(id)).attention, [], name)
}

/** Opens a payment of 25.99 that the payer has paid. */
async function openPaid(): Promise<OpenedPayment & { readonly capture: string }> {
  const payment = await open()
  await deliver(fake.approve(payment.intent))
  await reconcile(payment.id)
  return { ...payment, capture: captureOf(payment.intent).id }
}

/** Opens a payment that is captured manually, and that the payer has approved. */
async function openAuthorized() {
  const id = newId()
  await openPayment(workflow, {
    earlier: null,
    metadata,
    command: async () => ({
      ...paymentFields,
      payment_id: id,
      provider_id: 'paypal',
      capture_method: 'manual',
      occurred_at: workflow.now().toISOString(),
      total_cents: 2599,
      currency: 'USD',
      payer: { id: null, type: 'guest', email: null },
    }),
  })
  const intent = (await stateOf(id)).provider_intent_id ?? ''
  await deliver(fake.approve(intent))
  t.match(await reconcile(id), { payment: { status: 'processing', capturable_cents: 2599 } })
  return { id, intent }
}

const refundOf = (payment_id: string, amount_cents?: number, refund_id = newId()) => ({
  payment_id,
  refund_id,
  amount_cents,
  reason: 'requested_by_customer' as const,
  note: null,
  request_fingerprint: null,
  metadata,
})

t.test('a PayPal payment is refunded in parts, and its notifications add nothing', async (t) => {
  const { id } = await openPaid()
  const { refund } = await refundPayment(workflow, refundOf(id, 1000))
  t.match(refund, { status: 'succeeded', amount_cents: 1000, provider_refund_id: /./ })
  await refundPayment(workflow, refundOf(id))
  await assertAgrees(t, id)
  const before = await historyOf(id)
  await deliver(...fake.events.filter(({ event_type, body }) => /REFUND/.test(event_type) && body.includes(id)))
  t.same(await historyOf(id), before)
  await t.rejects(refundPayment(workflow, refundOf(id)), { code: 'refund_exceeds_payment' })
  t.match(await reconcile(id), { finding: 'same', payment: { status: 'succeeded' } })
})

t.test('refunds from the API and from PayPal’s dashboard are each recorded once', async (t) => {
  const { id, capture } = await openPaid()
  await refundPayment(workflow, refundOf(id, 500))
  const fromDashboard = fake.refund(capture, '3.00')
  t.match(await reconcile(id), { payment: { status: 'succeeded' } })
  await deliver(fromDashboard, fake.reverse(capture))
  await assertAgrees(t, id)
  const { refunds } = await stateOf(id)
  t.match(refunds.map(({ amount_cents }) => amount_cents).toSorted(), [1799, 300, 500])
  t.match(refunds.at(-1), { reason: 'other', note: 'reversed' })
})

t.test('a PayPal refund whose response is lost is made once', async (t) => {
  for (const commits of [true, false]) {
    const { id } = await openPaid()
    const request = refundOf(id, 700)
    fake.faults.always({ kind: 'drop', commits })
    await t.rejects(refundPayment(workflow, request), { code: 'provider_outcome_unknown' })
    t.match((await stateOf(id)).refunds, [{ status: 'pending', amount_cents: 700 }], 'its amount is reserved')
    fake.faults.always(undefined)
    await reconcile(id)
    await assertAgrees(t, id, `commits ${commits}`)
    t.match((await stateOf(id)).refunds, [{ status: 'succeeded', refund_id: request.refund_id }])
  }
})

t.test('a refund of the whole that a dashboard refund outruns is rejected, and needs no attention', async (t) => {
  const { id, capture } = await openPaid()
  const fromDashboard = fake.refund(capture, '3.00')
  fake.faults.always({ kind: 'drop', commits: false })
  await t.rejects(refundPayment(workflow, refundOf(id)), { code: 'provider_outcome_unknown' })
  fake.faults.always(undefined)
  await deliver(fromDashboard)
  await reconcile(id)
  t.match((await stateOf(id)).refunds, [
    { status: 'failed', failure_code: 'refund_amount_exceeded' },
    { amount_cents: 300 },
  ])
  await assertAgrees(t, id)
})

t.test('a PayPal refund that fails later frees its amount', async (t) => {
  const { id } = await openPaid()
  fake.nextRefunds('pending')
  const { refund } = await refundPayment(workflow, refundOf(id))
  t.match(refund, { status: 'pending' })
  await assertAgrees(t, id)
  await t.rejects(refundPayment(workflow, refundOf(id, 1)), { code: 'refund_exceeds_payment' })
  await deliver(fake.settleRefund(refund.provider_refund_id ?? '', 'failed', 'ECHECK'))
  t.match((await stateOf(id)).refunds, [{ status: 'failed', failure_code: 'echeck' }])
  await refundPayment(workflow, refundOf(id))
  await assertAgrees(t, id)
})

t.test('a refund that PayPal rejects is failed and frees its amount', async (t) => {
  const { id } = await openPaid()
  fake.nextRefunds({ rejected: 'REFUND_TIME_LIMIT_EXCEEDED' })
  await t.rejects(refundPayment(workflow, refundOf(id)), { code: 'provider_rejected' })
  t.match((await stateOf(id)).refunds, [{ status: 'failed', failure_code: 'refund_time_limit_exceeded' }])
  await assertAgrees(t, id)
})

t.test('authorized PayPal money is captured in part, and the rest is released', async (t) => {
  const { id } = await openAuthorized()
  await assertAgrees(t, id)
  await capturePayment(workflow, { payment_id: id, metadata, amount_cents: 1000 })
  t.match(await stateOf(id), { status: 'succeeded' })
  await assertAgrees(t, id)
  await deliver(...fake.events.filter(({ body }) => body.includes(id)))
  t.match(await reconcile(id), { finding: 'same', payment: { status: 'succeeded' } })
  await assertAgrees(t, id)
})

t.test('a declined capture of authorized PayPal money leaves the payment capturable', async (t) => {
  const { id } = await openAuthorized()
  fake.nextCaptures('declined')
  await t.rejects(capturePayment(workflow, { payment_id: id, metadata, amount_cents: undefined }), {
    code: 'payment_declined',
  })
  await deliver(...fake.events.filter(({ event_type, body }) => /DECLINED/.test(event_type) && body.includes(id)))
  t.match(await stateOf(id), { status: 'processing', capturable_cents: 2599 })
  await capturePayment(workflow, { payment_id: id, metadata, amount_cents: undefined })
  t.match(await stateOf(id), { status: 'succeeded' })
  await assertAgrees(t, id)
})

t.test('canceling an authorized PayPal payment voids the authorization', async (t) => {
  const { id } = await openAuthorized()
  await cancelPayment(workflow, { payment_id: id, metadata, reason: 'sold out' })
  await deliver(...fake.events.filter(({ event_type, body }) => /VOIDED/.test(event_type) && body.includes(id)))
  t.match(await reconcile(id), { finding: 'same', payment: { status: 'canceled' } })
  await assertAgrees(t, id)
})

t.test('a canceled PayPal order is never captured, and is no conflict until PayPal forgets it', async (t) => {
  for (const isApproved of [false, true]) {
    const { id, intent } = await open()
    if (isApproved) fake.approve(intent)
    await cancelPayment(workflow, { payment_id: id, metadata, reason: null })
    if (!isApproved) await deliver(fake.approve(intent))
    t.match(await reconcile(id), { finding: 'same', payment: { status: 'canceled' } })
    t.equal(captures(intent), 0)
    await assertAgrees(t, id)
  }
})

t.test('a PayPal payment that the payer has paid already cannot be canceled', async (t) => {
  const { id, intent } = await open()
  fake.approve(intent)
  await paypal.captureUnrecorded({ id, intent })
  const paid = cancelPayment(workflow, { payment_id: id, metadata, reason: null })
  await t.rejects(paid, { code: 'payment_not_cancelable' })
  t.match(await stateOf(id), { status: 'succeeded' })
  await assertAgrees(t, id)
})

t.test('an unpaid PayPal order that PayPal forgot is replaced on refresh', async (t) => {
  const refresh = createRefresh(workflow)
  const { id, intent } = await open()
  fake.expireOrder(intent)
  await refresh(id, metadata)
  const { provider_intent_id, status, redirect_url } = await stateOf(id)
  t.equal(status, 'pending')
  t.not(provider_intent_id, intent)
  t.match(redirect_url, new RegExp(`token=${provider_intent_id}$`))
  await deliver(fake.approve(provider_intent_id ?? ''))
  t.match(await reconcile(id), { payment: { status: 'succeeded' } })
  await assertAgrees(t, id)
})

t.test('a PayPal dispute is opened and closed, in any order of its notifications', async (t) => {
  for (const [outcome, status] of [
    ['RESOLVED_BUYER_FAVOUR', 'lost'],
    ['CANCELED_BY_BUYER', 'won'],
  ] as const)
    for (const order of ordersOf([0, 1, 2])) {
      const { id, capture } = await openPaid()
      const events = [
        fake.dispute(capture),
        fake.dispute(capture, 'UPDATED', 'UNDER_REVIEW'),
        fake.dispute(capture, 'RESOLVED', 'RESOLVED', outcome),
      ]
      await deliver(...order.flatMap((n) => events[n] ?? []))
      t.equal(disputeStatusOf(await stateOf(id)), status, `${outcome} ${order}`)
      t.match(await stateOf(id), { status: 'succeeded' })
    }
})

t.test('a PayPal refund that is notified before its payment’s success needs no attention', async (t) => {
  const payment = await open()
  fake.approve(payment.intent)
  const refund = fake.refund(await paypal.captureUnrecorded(payment), '5.00')
  await deliver(refund)
  await reconcile(payment.id)
  await assertAgrees(t, payment.id)
  const events = await store.readStream(paymentStream(payment.id))
  t.same(events.map(({ type }) => type).filter((type) => type === 'RefundRecorded').length, 1)
})
