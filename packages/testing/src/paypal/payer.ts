// What payers, their banks and PayPal itself do, beside the API. Each makes the notifications that PayPal sends of it.
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
  /** The payer approves the order at PayPal's page. @param at when it was, in PayPal's words; now when left out */
  approve(orderId: string, at?: string): PaypalEvent
  /** What was approved and not captured goes back to the payer. */
  reverseApproval(orderId: string): PaypalEvent
  /** A capture that was pending ends. */
  settleCapture(captureId: string, end: 'completed' | 'denied'): PaypalEvent
  /** The merchant gives money back. @param value all of it when left out */
  refund(captureId: string, value?: string): PaypalEvent
  /** PayPal takes the money back. */
  reverse(captureId: string): PaypalEvent
  dispute(captureId: string, step?: 'CREATED' | 'UPDATED' | 'RESOLVED', status?: string): PaypalEvent
  /** Sets a status that no story of the fake's leads to. */
  setOrderStatus(orderId: string, status: OrderStatus): void
  /** The order was not approved in time. */
  expireOrder(orderId: string): void
  /** Captures an order once more, as PayPal never should. @returns the capture's id */
  captureTwice(orderId: string): string
}

/** @param options `made` is told of every notification */
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

/** The notifications that PayPal sends of a capture that the API asked for. */
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
