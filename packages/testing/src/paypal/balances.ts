// The money of a payment at the fake.
import { centsOf } from './orderRequests.ts'
import { type Order, openOf } from './shownOrder.ts'

export type Balance = {
  readonly received_cents: number
  /** Completed refunds and reversals only. */
  readonly refunded_cents: number
  readonly capturable_cents: number
}

const isReceived = (status: string) => status !== 'PENDING' && status !== 'DECLINED'

export function balanceOf(orders: Iterable<Order>, paymentId: string): Balance {
  const own = [...orders].filter(({ unit }) => unit.custom_id === paymentId)
  const sum = (cents: readonly number[]) => cents.reduce((total, each) => total + each, 0)
  const captures = own.flatMap((order) => order.captures).filter(({ status }) => isReceived(status))
  const refunds = own.flatMap((order) => order.refunds).filter(({ status }) => status === 'COMPLETED')
  return {
    received_cents: sum(captures.map(({ amount }) => centsOf(amount))),
    refunded_cents: sum(refunds.map(({ amount }) => centsOf(amount))),
    capturable_cents: sum(own.flatMap((order) => order.authorizations.map((each) => openOf(order, each)))),
  }
}
