// The fake's refunds: by calls, in PayPal's dashboard, and reversals.

import { valueAt } from '../fakeServer.ts'
import { centsOf, issueOf, type Money, moneyIn, moneyOf } from './orderRequests.ts'
import { errorResponse, type FakeResponse, missing, paypalId, respondWith, textAt } from './responses.ts'
import { type Capture, madeIn, type Order, type Refund, type RefundStatus, restOf, shownRefund } from './shownOrder.ts'

/** The outcome of a refund call. */
export type RefundOutcome =
  | 'completed'
  | 'pending'
  | 'failed'
  | 'cancelled'
  /** 422 with this issue; nothing is refunded. */
  | { readonly rejected: string }

export type Refunds = ReturnType<typeof createRefunds>

/** @param options `onRefund`: called for every refund by a call */
export function createRefunds(options: {
  readonly orders: ReadonlyMap<string, Order>
  readonly onRefund: (refund: Refund) => void
}) {
  const { orders } = options
  const outcomes: RefundOutcome[] = []

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
    /** Refunds a capture by a call. */
    refund(captureId: string, json: unknown): FakeResponse {
      const found = madeIn(orders, 'captures', captureId)
      if (!found) return missing
      const { order, made: capture } = found
      const amount = moneyIn(json) ?? moneyOf(restOf(order, capture), capture.amount.currency_code)
      const issue = refundIssue(order, capture, amount)
      if (issue) return errorResponse(422, issue)
      const custom_id = textAt(json, /^.{1,127}$/, 'custom_id')
      if (valueAt(json, 'custom_id') !== undefined && custom_id === undefined)
        return errorResponse(400, 'INVALID_STRING_LENGTH', '/custom_id')
      const outcome = outcomes.shift() ?? 'completed'
      if (typeof outcome === 'object') return errorResponse(422, outcome.rejected)
      const refund = addRefund(order, capture, { amount, status: statusOf[outcome], ...(custom_id && { custom_id }) })
      options.onRefund(refund)
      return respondWith(201, () => shownRefund(refund))
    },
    /** Outcomes of the next refund calls, one each; later refunds are completed. */
    nextRefunds: (...next: readonly RefundOutcome[]) => void outcomes.push(...next),
    /** Refunds or reverses what is asked for, or all that is left. @throws Error when that is more than is left */
    giveBack(captureId: string, value?: string): Refund {
      const found = madeIn(orders, 'captures', captureId)
      if (!found) throw new Error(`no capture ${captureId}`)
      const { order, made: capture } = found
      const { currency_code } = capture.amount
      const amount = value === undefined ? moneyOf(restOf(order, capture), currency_code) : { currency_code, value }
      if (centsOf(amount) > restOf(order, capture)) throw new Error(`${captureId} has less than ${value} left`)
      return addRefund(order, capture, { amount, status: 'COMPLETED' })
    },
    /** A pending or completed refund ends. @throws Error when there is none */
    settle(refundId: string, status: RefundStatus, reason?: string): Refund {
      const found = madeIn(orders, 'refunds', refundId)
      const paid = madeIn(orders, 'captures', found?.made.capture_id ?? '')
      if (!found || !paid) throw new Error(`no refund ${refundId}`)
      found.made.status = status
      if (reason !== undefined) found.made.reason = reason
      showRest(paid.order, paid.made)
      return found.made
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
