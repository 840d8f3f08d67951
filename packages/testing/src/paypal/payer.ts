// Actions of payers, banks and PayPal outside the API, with the resulting notifications.

import type { Captures } from './captures.ts'
import {
  approvalReversed,
  authorizationEvent,
  captureEvent,
  type Dispute,
  disputeEvent,
  orderApproved,
  orderCompleted,
  type PaypalEvent,
  refundEvent,
} from './events.ts'
import type { Orders } from './orders.ts'
import type { Refunds } from './refunds.ts'
import { paypalId } from './responses.ts'
import type { Authorization, Capture, Order, OrderStatus, Refund } from './shownOrder.ts'

/** @param options `recordEvent`: called for every notification */
export function createPayerActions(options: {
  readonly orders: Orders
  readonly captures: Captures
  readonly refunds: Refunds
  readonly apiBase: () => string
  readonly recordEvent: (event: PaypalEvent) => PaypalEvent
}) {
  const { orders, captures, refunds, recordEvent, apiBase } = options
  const disputes = new Map<string, Dispute>()
  return {
    /** The payer approves the order at PayPal's page. */
    approve(orderId: string) {
      const order = orders.get(orderId)
      order.status = 'APPROVED'
      return recordEvent(orderApproved(order, apiBase()))
    },
    /** PayPal reverses the approval of an uncaptured order. */
    reverseApproval(orderId: string) {
      const order = orders.get(orderId)
      order.status = 'VOIDED'
      return recordEvent(approvalReversed(order))
    },
    /** A pending capture ends. */
    settleCapture(captureId: string, end: 'completed' | 'denied') {
      const { order, capture } = orders.byCapture(captureId)
      if (end === 'completed') captures.complete(order, capture)
      else capture.status = 'DECLINED'
      return recordEvent(
        captureEvent(end === 'completed' ? 'PAYMENT.CAPTURE.COMPLETED' : 'PAYMENT.CAPTURE.DENIED', order, capture),
      )
    },
    /** The merchant refunds a capture in PayPal's dashboard. @param value default: all that is left */
    refund: (captureId: string, value?: string) =>
      recordEvent(refundEvent('PAYMENT.CAPTURE.REFUNDED', refunds.giveBack(captureId, value))),
    /** PayPal reverses a capture, or what is left of it. */
    reverse: (captureId: string) => recordEvent(refundEvent('PAYMENT.CAPTURE.REVERSED', refunds.giveBack(captureId))),
    /** A pending refund ends, or a completed one fails. */
    settleRefund: (refundId: string, end: 'completed' | 'failed' | 'cancelled', reason?: string) =>
      recordEvent(refundEventOf(refunds.settle(refundId, refundEnds[end], reason))),
    /** A pending authorization is approved or denied, or PayPal voids one, for example after 30 days. */
    settleAuthorization(orderId: string, status: 'CREATED' | 'DENIED' | 'VOIDED') {
      const order = orders.get(orderId)
      const authorization = order.authorizations.at(-1)
      if (!authorization) throw new Error(`no authorization of ${orderId}`)
      authorization.status = status
      const type = status === 'CREATED' ? 'CREATED' : 'VOIDED'
      return recordEvent(authorizationEvent(`PAYMENT.AUTHORIZATION.${type}`, order, authorization))
    },
    /** Opens the capture's dispute, or changes it. @param outcome of a resolved dispute */
    dispute(
      captureId: string,
      step: 'CREATED' | 'UPDATED' | 'RESOLVED' = 'CREATED',
      status: string = step === 'RESOLVED' ? 'RESOLVED' : 'OPEN',
      outcome?: string,
    ) {
      const { order, capture } = orders.byCapture(captureId)
      const opened = { dispute_id: `PP-D-${disputes.size + 27803}`, create_time: new Date().toISOString() }
      const known = disputes.get(captureId) ?? { ...opened, order, capture, status }
      const outcome_code = outcome ?? 'RESOLVED_SELLER_FAVOUR'
      const dispute = { ...known, status, ...(status === 'RESOLVED' && { outcome_code }) }
      disputes.set(captureId, dispute)
      return recordEvent(disputeEvent(`CUSTOMER.DISPUTE.${step}`, dispute))
    },
    /** Sets a status that no other action leads to. */
    setOrderStatus(orderId: string, status: OrderStatus) {
      orders.get(orderId).status = status
    },
    /** Removes an order, as PayPal does when it is not approved in time. */
    expireOrder: (orderId: string) => orders.remove(orderId),
    /** Captures an order once more, as PayPal never should. @returns the capture's id */
    captureTwice(orderId: string) {
      const order = orders.get(orderId)
      const capture: Capture = {
        id: paypalId(),
        amount: order.unit.amount,
        create_time: new Date().toISOString(),
        final_capture: true,
        status: 'PENDING',
      }
      order.captures.push(capture)
      captures.complete(order, capture)
      return capture.id
    },
  }
}

const refundEnds = { completed: 'COMPLETED', failed: 'FAILED', cancelled: 'CANCELLED' } as const

/** The notification that PayPal sends about a refund in this state. */
export function refundEventOf(refund: Refund): PaypalEvent {
  if (refund.status === 'COMPLETED') return refundEvent('PAYMENT.CAPTURE.REFUNDED', refund)
  return refundEvent(refund.status === 'PENDING' ? 'PAYMENT.REFUND.PENDING' : 'PAYMENT.REFUND.FAILED', refund)
}

/** The notification that PayPal sends about an authorization that was made. */
export function authorizationEvents(order: Order, authorization: Authorization): readonly PaypalEvent[] {
  if (authorization.status === 'DENIED') return []
  return [authorizationEvent('PAYMENT.AUTHORIZATION.CREATED', order, authorization)]
}

/** The notifications that PayPal sends after a capture call. */
export function captureEvents(order: Order, capture: Capture, apiBase: string): readonly PaypalEvent[] {
  switch (capture.status) {
    case 'COMPLETED':
      return [
        // The order of an authorization was completed before.
        ...(capture.authorization_id === undefined ? [orderCompleted(order, apiBase)] : []),
        captureEvent('PAYMENT.CAPTURE.COMPLETED', order, capture),
      ]
    case 'PENDING':
      return [captureEvent('PAYMENT.CAPTURE.PENDING', order, capture)]
    default:
      return [captureEvent('PAYMENT.CAPTURE.DECLINED', order, capture)]
  }
}
