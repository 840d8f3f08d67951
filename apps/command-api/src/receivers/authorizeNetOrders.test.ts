// The notifications of one payment at Authorize.Net, in every order.
import t from 'tap'
import { authorizeNetUnderTest } from '../testing/authorizeNetUnderTest.ts'
import { type OpenedPayment, ordersOf } from '../testing/receiverUnderTest.ts'

const { fake, open, tell, toldOf, pay, historyOf, reconcile } = await authorizeNetUnderTest(t)
const fail = (what: string): never => {
  throw new Error(`There is no ${what}`)
}

/** The notifications of one payment each, and what is true in the end. */
const stories = {
  'held, released and given back in two parts': {
    truth: 'succeeded',
    facts: { PaymentSucceeded: 1, PaymentRefundRecorded: 2 },
    play(payment: OpenedPayment) {
      const { told, transId } = pay(payment, 'held')
      return [
        told,
        toldOf(() => fake.approveHeld(transId)),
        toldOf(() => fake.refund(transId, 1000)),
        toldOf(() => fake.refund(transId, 1599)),
      ]
    },
  },
  'held and refused': {
    truth: 'failed',
    facts: { PaymentAttemptFailed: 1 },
    play(payment: OpenedPayment) {
      const { told, transId } = pay(payment, 'held')
      return [told, toldOf(() => fake.declineHeld(transId))]
    },
  },
}
for (const [name, { truth, facts, play }] of Object.entries(stories))
  t.test(`${name}: in any order the payment is ${truth} in the end`, async (t) => {
    const length = truth === 'failed' ? 2 : 4
    for (const order of ordersOf(Array.from({ length }, (_, n) => n))) {
      const payment = await open()
      const events = play(payment)
      t.equal(events.length, length)
      const told = order.map((n) => events[n] ?? fail('event'))
      await tell(...told)
      const types = told.map(({ eventType }) => eventType.replace('net.authorize.payment.', '')).join(', ')
      const { finding, payment: now } = await reconcile(payment.id)
      t.equal(now.status, truth, types)
      t.ok(finding === 'same' || finding === 'late', `${types}: ${finding}`)
      t.equal((await reconcile(payment.id)).finding, 'same', types)
      const history = await historyOf(payment.id)
      for (const [type, times] of Object.entries(facts))
        t.equal(history.filter((each) => each === type).length, times, `${type}: ${types}`)
      t.notOk(history.includes('PaymentConflictDetected') || history.includes('PaymentAmountMismatch'), types)
    }
  })

t.test('told step by step, every order of the steps that can be leads to the same', async (t) => {
  const payment = await open()
  const { told: held, transId } = pay(payment, 'held')
  await tell(held)
  const released = toldOf(() => fake.approveHeld(transId))
  await tell(released, held)
  t.same(await historyOf(payment.id), ['PaymentProcessingStarted', 'PaymentSucceeded'])
  t.match(await reconcile(payment.id), { finding: 'same' })
})
