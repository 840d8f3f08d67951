// The fake's refunds: by calls, in PayPal's dashboard, and reversals.

import { valueAt } from '../fakeServer.ts'
import { centsOf, issueOf, type Money, moneyIn, moneyOf } from './orderRequests.ts'
import { errorResponse, type FakeResponse, paypalId, respondWith, textAt } from './responses.ts'
import { type Capture, type Order, type Refund, type RefundStatus, restOf, shownRefund } from './shownOrder.ts'

/** The outcome of a refund call. */
export type RefundOutcome =
  | 'completed'
  | 'pending'
  | 'failed'
  | 'cancelled'
  /** 422 with this issue; nothing is refunded. */
  | { readonly rejected: string }

export type Refunds = {
  show(id: string): FakeResponse
  /** Refunds a capture by a call. */
  refund(captureId: string, json: unknown): FakeResponse
  /** Outcomes of the next refund calls, one each; later refunds are completed. */
  nextRefunds(...outcomes: readonly RefundOutcome[]): void
  /** Refunds or reverses what is asked for, or all that is left. @throws Error when that is more than is left */
  giveBack(captureId: string, value?: string): Refund
  /** A pending or completed refund ends. @throws Error when there is none */
  settle(refundId: string, status: RefundStatus, reason?: string): Refund
}

/** @param options `onRefund`: called for every refund by a call */
export function createRefunds(options: {
  readonly orders: ReadonlyMap<string, Order>
  readonly onRefund: (refund: Refund) => void
}): Refunds {
  const { orders } = options
  const outcomes: RefundOutcome[] = []

  function captureOf(id: string) {
    for (const order of orders.values())
      for (const capture of order.captures) if (capture.id === id) return { order, capture }
    return undefined
  }

  function refundOf(id: string) {
    for (const order of orders.values())
      for (const refund of order.refunds) if (refund.id === id) return { order, refund }
    return undefined
  }

  function addRefund(
    order: Order,
    capture: Capture,
    made: Pick<Refund, 'amount' | 'status'> & Partial<Refund>,
  ): Refund {
    const { custom_id, invoice_id } = order.unit
    const create_time = new Date().toISOString()
    const refund = { custom_id, invoice_id, ...made, id: paypalId(), capture_id: capture.id, create_time }
    order.refunds.push(refund)
    showRest(order, capture)
    return refund
  }

  return {
    show(id) {
      const found = refundOf(id)
      return found ? respondWith(200, () => shownRefund(found.refund)) : errorResponse(404, 'INVALID_RESOURCE_ID')
    },
    refund(captureId, json) {
      const found = captureOf(captureId)
      if (!found) return errorResponse(404, 'INVALID_RESOURCE_ID')
      const { order, capture } = found
      const amount = moneyIn(json) ?? moneyOf(restOf(order, capture), capture.amount.currency_code)
      const issue = refundIssue(order, capture, amount)
      if (issue) return errorResponse(422, issue)
      const custom_id = textAt(json, /^.{1,127}$/, 'custom_id')
      if (valueAt(json, 'custom_id') !== undefined && custom_id === undefined)
        return errorResponse(400, 'INVALID_STRING_LENGTH', '/custom_id')
      const outcome = outcomes.shift() ?? 'completed'
      if (typeof outcome === 'object') return errorResponse(422, outcome.rejected)
      const made = addRefund(order, capture, { amount, status: statusOf[outcome], ...(custom_id && { custom_id }) })
      options.onRefund(made)
      return respondWith(201, () => shownRefund(made))
    },
    nextRefunds: (...next) => void outcomes.push(...next),
    giveBack(captureId, value) {
      const found = captureOf(captureId)
      if (!found) throw new Error(`no capture ${captureId}`)
      const { order, capture } = found
      const { currency_code } = capture.amount
      const amount = value === undefined ? moneyOf(restOf(order, capture), currency_code) : { currency_code, value }
      if (centsOf(amount) > restOf(order, capture)) throw new Error(`${captureId} has less than ${value} left`)
      return addRefund(order, capture, { amount, status: 'COMPLETED' })
    },
    settle(refundId, status, reason) {
      const found = refundOf(refundId)
      const paid = captureOf(found?.refund.capture_id ?? '')
      if (!found || !paid) throw new Error(`no refund ${refundId}`)
      const { refund } = found
      refund.status = status
      if (reason !== undefined) refund.reason = reason
      showRest(paid.order, paid.capture)
      return refund
    },
  }
}

const statusOf = { completed: 'COMPLETED', pending: 'PENDING', failed: 'FAILED', cancelled: 'CANCELLED' } as const

/** The capture's status follows from its completed refunds. */
function showRest(order: Order, capture: Capture): void {
  const completed = order.refunds.filter(
    ({ capture_id, status }) => capture_id === capture.id && status === 'COMPLETED',
  )
  const refunded = completed.reduce((sum, { amount }) => sum + centsOf(amount), 0)
  if (refunded === 0) capture.status = 'COMPLETED'
  else capture.status = refunded < centsOf(capture.amount) ? 'PARTIALLY_REFUNDED' : 'REFUNDED'
}

function refundIssue(order: Order, capture: Capture, amount: Money): string | undefined {
  if (capture.status === 'PENDING') return 'PENDING_CAPTURE'
  if (capture.status === 'DECLINED') return 'REFUND_NOT_ALLOWED'
  if (capture.status === 'REFUNDED') return 'CAPTURE_FULLY_REFUNDED'
  if (amount.currency_code !== capture.amount.currency_code) return 'REFUND_CAPTURE_CURRENCY_MISMATCH'
  return issueOf(amount) ?? (centsOf(amount) > restOf(order, capture) ? 'REFUND_AMOUNT_EXCEEDED' : undefined)
}
