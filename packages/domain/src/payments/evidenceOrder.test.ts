import t, { type Test } from 'tap'
import { existingPayment, isAbsorbing, type Payment, type PaymentStatus } from './payment.ts'
import { applyTo, eventsAfter, fold, notifies, snapshots } from './testing/paymentFixture.ts'

const open = ['pending', 'processing', 'failed'] as const
type Decision = ReturnType<typeof notifies>

const created = () => existingPayment(fold(eventsAfter()))
const orders = <T>(items: readonly T[]): T[][] =>
  items.length < 2
    ? [[...items]]
    : items.flatMap((item, index) => orders(items.toSpliced(index, 1)).map((rest) => [item, ...rest]))

/** With so many notifications of one payment, orders that put each of them everywhere stand for all, unless all are asked for. */
const manyNotifications = 5
const isThorough = process.env.PAYLOG_TEST_CYCLES !== undefined
const ordersPlayed = <T>(items: readonly T[]): T[][] => {
  if (items.length < manyNotifications || isThorough) return orders(items)
  const rotations = items.map((_, n) => [...items.slice(n), ...items.slice(0, n)])
  return [...rotations, ...rotations.map((order) => order.toReversed())]
}

/** What can have happened to a payment at its provider: open statuses in any order, and then any status. */
function histories(length: number): PaymentStatus[][] {
  if (length === 1) return [...open, 'succeeded' as const, 'canceled' as const].map((status) => [status])
  return histories(length - 1).flatMap((rest) => open.map((status) => [status, ...rest]))
}

/**
 * Plays statements, and sees to it that no final status is left, that the payment is completed once, and that what was
 * told a moment ago is no news.
 */
function play(t: Test, start: Payment, tellings: readonly Decision[]): Payment {
  return tellings.reduce((before, decide) => {
    const now = applyTo(before, decide)
    if (decide(before).length > 1) t.fail('more than one event of one statement')
    if (decide(now).length > 0) t.fail('the same statement had an effect twice')
    if (isAbsorbing(before.status) && now.status !== before.status) t.fail(`${before.status} was left`)
    if (before.completed_at !== null && now.completed_at !== before.completed_at) t.fail('completed once more')
    if (isAbsorbing(now.status) !== (now.completed_at !== null)) t.fail(`${now.status} and completed do not agree`)
    return now
  }, start)
}

/** Whether nobody outside would have been told anything between these two. */
const isSame = (payment: Payment, other: Payment) =>
  payment.status === other.status &&
  payment.failures === other.failures &&
  payment.completed_at === other.completed_at &&
  payment.updated_at === other.updated_at

/** The notifications of a history by a provider that can be asked; those of one second have one provider time. */
const notificationsOf = (history: readonly PaymentStatus[], secondsApart: number) =>
  history.map((status, index) => notifies(status, 10 + index * secondsApart, { source: 'askable_notification' }))

for (const secondsApart of [10, 0])
  t.test(
    `whatever order notifications come in, ${secondsApart} s apart, the snapshot after them decides`,
    async (t) => {
      let played = 0
      for (const history of [1, 2, 3, 4, 5].flatMap(histories)) {
        const truth = history.at(-1) ?? 'pending'
        for (const order of ordersPlayed(notificationsOf(history, secondsApart))) {
          const told = play(t, created(), order)
          if (!isSame(play(t, told, order), told)) t.fail(`${history.join()} changes when all of it is sent again`)
          const settled = play(t, told, [snapshots(truth, 100)])
          played++
          if (settled.status !== truth) t.fail(`${history.join()} ends as ${settled.status}`)
          if (snapshots(truth, 200)(settled).length > 0) t.fail(`${history.join()} is not settled`)
        }
      }
      t.equal(played, isThorough ? 52_145 : 7_595, 'the orders of every history')
    },
  )

t.test('what was said before a snapshot and comes after it changes nothing', async (t) => {
  for (const history of [1, 2, 3, 4].flatMap(histories))
    for (const order of orders(notificationsOf(history, 10))) {
      const settled = applyTo(created(), snapshots(history.at(-1) ?? 'pending', 100))
      // A snapshot that says what a new payment is anyway leaves no trace.
      if (settled.evidence_time === null) continue
      if (!isSame(play(t, settled, order), settled)) t.fail(`${history.join()} after the snapshot`)
    }
  t.pass('no status changed')
})

t.test('of success and cancellation the first to come stays, and the other one is on record [3-final]', async (t) => {
  const statuses = [...open, 'succeeded', 'canceled'] as const
  for (const order of orders(statuses)) {
    const first = order.find(isAbsorbing) ?? 'pending'
    const other = first === 'succeeded' ? 'canceled' : 'succeeded'
    const told = play(
      t,
      created(),
      order.map((status) => notifies(status, 10 * (1 + statuses.indexOf(status)))),
    )
    t.equal(told.status, first, order.join())
    for (const shown of statuses) t.equal(applyTo(told, snapshots(shown, 100)).status, first)
    t.same(snapshots(other, 100)(told), [], `${other} is on record`)
  }
})

const endsOf = (history: readonly PaymentStatus[]) =>
  new Set(
    orders(history.map((status, index) => notifies(status, 10 * (index + 1)))).map(
      (order) => play(t, created(), order).status,
    ),
  )

t.test(
  'where nobody can be asked, statements of different times end the same in whatever order they come',
  async (t) => {
    for (const history of [1, 2, 3, 4].flatMap(histories)) {
      const ends = [...endsOf(history)].toSorted()
      const story = `${history.join()} ends as ${ends.join(' or ')}`
      // Whether a newest `pending` may undo processing cannot be known from the statements.
      const isRegression = history.at(-1) === 'pending' && history.includes('processing')
      if (isRegression) t.ok(ends.join() === 'pending,processing' || ends.join() === 'pending', story)
      else t.same(ends, [history.at(-1)], story)
    }
  },
)
