// Actions of payers, banks and PayPal outside the API, with the resulting notifications.
import {
  approvalReversed,
  captureEvent,
  disputeEvent,
  orderApproved,
  orderCompleted,
  type PaypalEvent,
  refundEvent,
} from './events.ts'
import type { Capture, Order, OrderStatus, Orders } from './orders.ts'
import { paypalId } from './responses.ts'

export type PayerActions = {
  /** The payer approves the order at PayPal's page. @param at in PayPal's format; default: now */
  approve(orderId: string, at?: string): PaypalEvent
  /** PayPal reverses the approval of an uncaptured order. */
  reverseApproval(orderId: string): PaypalEvent
  /** A pending capture ends. */
  settleCapture(captureId: string, end: 'completed' | 'denied'): PaypalEvent
  /** The merchant refunds a capture. @param value default: the whole amount */
  refund(captureId: string, value?: string): PaypalEvent
  /** PayPal reverses a capture. */
  reverse(captureId: string): PaypalEvent
  dispute(captureId: string, step?: 'CREATED' | 'UPDATED' | 'RESOLVED', status?: string): PaypalEvent
  /** Sets a status that no other action leads to. */
  setOrderStatus(orderId: string, status: OrderStatus): void
  /** Removes an order, as PayPal does when it is not approved in time. */
  expireOrder(orderId: string): void
  /** Captures an order once more, as PayPal never should. @returns the capture's id */
  captureTwice(orderId: string): string
}

/** @param options `recordEvent`: called for every notification */
export function createPayerActions(options: {
  readonly orders: Orders
  readonly apiBase: () => string
  readonly recordEvent: (event: PaypalEvent) => PaypalEvent
}): PayerActions {
  const { orders, recordEvent, apiBase } = options
  return {
    approve(orderId, at) {
      const order = orders.get(orderId)
      order.status = 'APPROVED'
      return recordEvent(orderApproved(order, apiBase(), at))
    },
    reverseApproval(orderId) {
      const order = orders.get(orderId)
      order.status = 'VOIDED'
      return recordEvent(approvalReversed(order))
    },
    settleCapture(captureId, end) {
      const { order, capture } = orders.byCapture(captureId)
      if (end === 'completed') orders.complete(order, capture)
      else capture.status = 'DECLINED'
      return recordEvent(
        captureEvent(end === 'completed' ? 'PAYMENT.CAPTURE.COMPLETED' : 'PAYMENT.CAPTURE.DENIED', order, capture),
      )
    },
    refund(captureId, value) {
      const { order, capture } = orders.byCapture(captureId)
      const isWhole = value === undefined || value === capture.amount.value
      capture.status = isWhole ? 'REFUNDED' : 'PARTIALLY_REFUNDED'
      return recordEvent(
        refundEvent('PAYMENT.CAPTURE.REFUNDED', { order, capture, value: value ?? capture.amount.value }),
      )
    },
    reverse(captureId) {
      const { order, capture } = orders.byCapture(captureId)
      return recordEvent(refundEvent('PAYMENT.CAPTURE.REVERSED', { order, capture, value: capture.amount.value }))
    },
    dispute(captureId, step = 'CREATED', status = step === 'RESOLVED' ? 'RESOLVED' : 'OPEN') {
      return recordEvent(disputeEvent(`CUSTOMER.DISPUTE.${step}`, { ...orders.byCapture(captureId), status }))
    },
    setOrderStatus(orderId, status) {
      orders.get(orderId).status = status
    },
    expireOrder: (orderId) => orders.remove(orderId),
    captureTwice(orderId) {
      const order = orders.get(orderId)
      const capture: Capture = {
        id: paypalId(),
        amount: order.unit.amount,
        create_time: new Date().toISOString(),
        status: 'PENDING',
      }
      order.captures.push(capture)
      orders.complete(order, capture)
      return capture.id
    },
  }
}

/** The notifications that PayPal sends after a capture call. */
export function captureEvents(order: Order, capture: Capture, apiBase: string): readonly PaypalEvent[] {
  switch (capture.status) {
    case 'COMPLETED':
      return [orderCompleted(order, apiBase), captureEvent('PAYMENT.CAPTURE.COMPLETED', order, capture)]
    case 'PENDING':
      return [captureEvent('PAYMENT.CAPTURE.PENDING', order, capture)]
    default:
      return [captureEvent('PAYMENT.CAPTURE.DECLINED', order, capture)]
  }
}
