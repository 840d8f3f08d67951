// Orders of PayPal's, which the payer approves and we capture; and every order in which PayPal may tell of one.
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
  'an approved order is captured once, by whoever finds it, however often PayPal tells of it [10.2-capture]',
  async (t) => {
    const { id, intent } = await open()
    const approved = fake.approve(intent)
    await deliver(approved, approved)
    t.equal(captures(intent), 0, 'the receiver does not keep PayPal waiting for it')
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
t.test('one of which nobody told us is captured, too, and one that is not approved is not', async (t) => {
  const { id, intent } = await open()
  t.match(await reconcile(id), { finding: 'same', payment: { status: 'pending' } })
  fake.approve(intent)
  t.match(await reconcile(id), { finding: 'late', payment: { status: 'succeeded' } })
  t.equal(captures(intent), 1)
})

t.test('a capture whose answer is lost takes the money once', async (t) => {
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

/** What PayPal's clock may say of an approval that comes after a decline: its answers tell their time in whole seconds. */
const approvedAgain = {
  'a second after it': { at: (decline: number) => decline + 1_000, ignored: [] },
  'in its second': { at: (decline: number) => decline - (decline % 1_000), ignored: ['ProviderEventIgnored'] },
}
for (const [when, { at, ignored }] of Object.entries(approvedAgain))
  t.test(`a declined capture is one failed attempt until the payer approves anew, ${when}`, async (t) => {
    const { id, intent } = await open()
    fake.nextCaptures({ rejected: 'INSTRUMENT_DECLINED' })
    await deliver(fake.approve(intent))
    const declined = await reconcile(id)
    t.match(declined, { finding: 'late', payment: { status: 'failed' } })
    const waits = { finding: 'approval_waits', payment: { status: 'failed' } }
    for (let n = 0; n < 3; n++) t.match(await reconcile(id), waits)
    t.equal(captures(intent), 1, 'the order is still approved, but not once more')
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

t.test('an order over another amount is not captured', async (t) => {
  const { id, intent } = await open()
  Object.assign(fake.orders.get(intent)?.unit.amount ?? {}, { value: '25.98' })
  await deliver(fake.approve(intent))
  t.match(await reconcile(id), { finding: 'amount_differs', payment: { status: 'processing' } })
  t.equal(captures(intent), 0)
})

/** The notifications of one order each, what is true in the end, and how often what is on record of it. */
const scenarios = {
  'paid at last and given back': {
    truth: 'succeeded',
    length: 4,
    facts: { PaymentSucceeded: 1, PaymentRefundRecorded: 1 },
    async play(payment: OpenedPayment) {
      const approved = fake.approve(payment.intent)
      fake.nextCaptures('pending')
      const capture = await captureUnrecorded(payment)
      const settled = fake.settleCapture(capture, 'completed')
      return [approved, notificationOf(payment.intent, 'PAYMENT.CAPTURE.PENDING'), settled, fake.refund(capture)]
    },
  },
  'paid at once and contested': {
    truth: 'succeeded',
    length: 4,
    facts: { PaymentSucceeded: 1, PaymentDisputeRecorded: 1 },
    async play(payment: OpenedPayment) {
      const approved = fake.approve(payment.intent)
      const capture = await captureUnrecorded(payment)
      const told = ['CHECKOUT.ORDER.COMPLETED', 'PAYMENT.CAPTURE.COMPLETED'].map((type) =>
        notificationOf(payment.intent, type),
      )
      return [approved, ...told, fake.dispute(capture)]
    },
  },
  'denied at last': {
    truth: 'failed',
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
    truth: 'canceled',
    length: 2,
    facts: { PaymentCanceled: 1 },
    async play({ intent }: OpenedPayment) {
      return [fake.approve(intent), fake.reverseApproval(intent)]
    },
  },
}
for (const [name, { truth, length, facts, play }] of Object.entries(scenarios))
  t.test(`${name}: in any order the payment is ${truth} in the end`, async (t) => {
    for (const order of ordersOf(Array.from({ length }, (_, n) => n))) {
      const payment = await open()
      const events = await play(payment)
      const told = order.flatMap((n) => events[n] ?? [])
      t.equal(told.length, length)
      await deliver(...told)
      const types = told.map(({ event_type }) => event_type).join(', ')
      await settlesAs(t, payment.id, { truth, facts, name: types })
    }
  })
