// Captures of approved PayPal orders, and notifications about them in any order.
import t from 'tap'
import { type OpenedPayment, ordersOf, paypalHarness } from '../testing/receiverHarness.ts'

const paypal = await paypalHarness(t)
const {
  fake,
  open,
  deliver,
  notificationOf,
  captureOf,
  captures,
  captureUnrecorded,
  historyOf,
  reconcile,
  assertSettlesAs: settlesAs,
} = paypal

t.beforeEach(() => fake.faults.always(undefined))

t.test(
  'an approved order is captured once by concurrent reconciliations and repeated notifications [10.2-capture]',
  async (t) => {
    const { id, intent } = await open()
    const approved = fake.approve(intent)
    await deliver(approved, approved)
    t.equal(captures(intent), 0, 'the receiver does not wait for the capture')
    t.match(await reconcile(id), { finding: 'late', payment: { status: 'succeeded' } })
    t.match(await reconcile(id), { finding: 'same' })
    await deliver(
      approved,
      notificationOf(intent, 'CHECKOUT.ORDER.COMPLETED'),
      notificationOf(intent, 'PAYMENT.CAPTURE.COMPLETED'),
    )
    t.match(await reconcile(id), { finding: 'same', payment: { provider_payment_id: captureOf(intent).id } })
    t.equal(captures(intent), 1)
    t.same(await historyOf(id), ['PaymentProcessingStarted', 'PaymentSucceeded'])
  },
)
t.test('an approved order is captured without a notification, an unapproved one is not', async (t) => {
  const { id, intent } = await open()
  t.match(await reconcile(id), { finding: 'same', payment: { status: 'pending' } })
  fake.approve(intent)
  t.match(await reconcile(id), { finding: 'late', payment: { status: 'succeeded' } })
  t.equal(captures(intent), 1)
})

t.test('a PayPal capture whose response is lost charges once', async (t) => {
  for (const commits of [true, false]) {
    const { id, intent } = await open()
    await deliver(fake.approve(intent))
    fake.faults.always({ kind: 'drop', commits })
    t.match(await reconcile(id), { finding: 'unknown', payment: { status: 'processing' } })
    fake.faults.always(undefined)
    t.match(await reconcile(id), { finding: 'late', payment: { status: 'succeeded' } })
    t.equal(fake.orders.get(intent)?.captures.length, 1)
  }
})

/** Offsets of PayPal's clock for an approval after a decline: its responses have times in whole seconds. */
const approvedAgain = {
  'a second later': { at: (decline: number) => decline + 1_000, ignored: [] },
  'in the same second': { at: (decline: number) => decline - (decline % 1_000), ignored: ['ProviderEventIgnored'] },
}
for (const [when, { at, ignored }] of Object.entries(approvedAgain))
  t.test(`a declined PayPal capture is one failed attempt until the payer approves again ${when}`, async (t) => {
    const { id, intent } = await open()
    fake.nextCaptures({ rejected: 'INSTRUMENT_DECLINED' })
    await deliver(fake.approve(intent))
    const declined = await reconcile(id)
    t.match(declined, { finding: 'late', payment: { status: 'failed' } })
    const waits = { finding: 'approval_waits', payment: { status: 'failed' } }
    for (let n = 0; n < 3; n++) t.match(await reconcile(id), waits)
    t.equal(captures(intent), 1, 'the approval is still the declined one')
    const decline = Date.parse(declined.payment.evidence_time ?? '')
    await deliver(fake.approve(intent, new Date(at(decline)).toISOString()))
    t.match(await reconcile(id), { finding: 'late', payment: { status: 'succeeded' } })
    const keys = fake.callsTo(new RegExp(`/${intent}/capture$`)).map(({ key }) => key)
    t.same(keys, [`${intent}-capture-1`, `${intent}-capture-2`])
    t.same(await historyOf(id), [
      'PaymentProcessingStarted',
      'PaymentAttemptFailed',
      ...ignored,
      'PaymentProcessingStarted',
      'PaymentSucceeded',
    ])
  })

t.test('a PayPal order with another amount is not captured', async (t) => {
  const { id, intent } = await open()
  Object.assign(fake.orders.get(intent)?.unit.amount ?? {}, { value: '25.98' })
  await deliver(fake.approve(intent))
  t.match(await reconcile(id), { finding: 'amount_differs', payment: { status: 'processing' } })
  t.equal(captures(intent), 0)
})

/** The notifications of one order each, its final status, and the number of recorded events by type. */
const scenarios = {
  'paid after a decline and refunded': {
    status: 'succeeded',
    length: 4,
    facts: { PaymentSucceeded: 1, RefundRecorded: 1 },
    async play(payment: OpenedPayment) {
      const approved = fake.approve(payment.intent)
      fake.nextCaptures('pending')
      const capture = await captureUnrecorded(payment)
      const settled = fake.settleCapture(capture, 'completed')
      return [approved, notificationOf(payment.intent, 'PAYMENT.CAPTURE.PENDING'), settled, fake.refund(capture)]
    },
  },
  'paid and disputed': {
    status: 'succeeded',
    length: 4,
    facts: { PaymentSucceeded: 1, PaymentDisputeRecorded: 1 },
    async play(payment: OpenedPayment) {
      const approved = fake.approve(payment.intent)
      const capture = await captureUnrecorded(payment)
      const sent = ['CHECKOUT.ORDER.COMPLETED', 'PAYMENT.CAPTURE.COMPLETED'].map((type) =>
        notificationOf(payment.intent, type),
      )
      return [approved, ...sent, fake.dispute(capture)]
    },
  },
  'pending and denied': {
    status: 'failed',
    length: 3,
    facts: { PaymentAttemptFailed: 1 },
    async play(payment: OpenedPayment) {
      const approved = fake.approve(payment.intent)
      fake.nextCaptures('pending')
      const capture = await captureUnrecorded(payment)
      return [
        approved,
        notificationOf(payment.intent, 'PAYMENT.CAPTURE.PENDING'),
        fake.settleCapture(capture, 'denied'),
      ]
    },
  },
  'approved and never captured': {
    status: 'canceled',
    length: 2,
    facts: { PaymentCanceled: 1 },
    async play({ intent }: OpenedPayment) {
      return [fake.approve(intent), fake.reverseApproval(intent)]
    },
  },
}
for (const [name, { status, length, facts, play }] of Object.entries(scenarios))
  t.test(`PayPal notifications in any order (${name}) leave the payment ${status}`, async (t) => {
    for (const order of ordersOf(Array.from({ length }, (_, n) => n))) {
      const payment = await open()
      const events = await play(payment)
      const sent = order.flatMap((n) => events[n] ?? [])
      t.equal(sent.length, length)
      await deliver(...sent)
      const types = sent.map(({ event_type }) => event_type).join(', ')
      await settlesAs(t, payment.id, { status, facts, name: types })
    }
  })
