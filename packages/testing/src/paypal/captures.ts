// The fake's captures and their outcomes.

import type { ChargeLedger } from '../fakeServer.ts'
import { centsOf } from './orderRequests.ts'
import { errorResponse, type FakeResponse, paypalId } from './responses.ts'
import type { Authorization, Capture, Order } from './shownOrder.ts'

/** The outcome of a call that takes or authorizes money. */
export type CaptureOutcome =
  | 'completed'
  | 'pending'
  /** 422 with this issue; nothing is captured. */
  | { readonly rejected: string }
  /** The order is completed with a declined capture or authorization, as with cards. */
  | 'declined'
  /** A saved method only: the payer has to approve. */
  | 'payer_action'

export type Captures = ReturnType<typeof createCaptures>

/** @param options `onCapture` and `onAuthorization`: called for every one */
export function createCaptures(options: {
  readonly ledger: ChargeLedger
  readonly onCapture: (order: Order, capture: Capture) => void
  readonly onAuthorization: (order: Order, authorization: Authorization) => void
}) {
  const paidInvoices = new Set<string>()
  const outcomes: CaptureOutcome[] = []

  /** Completes a pending capture. */
  function complete(order: Order, capture: Capture) {
    capture.status = 'COMPLETED'
    const { custom_id = null, invoice_id } = order.unit
    if (invoice_id !== undefined) paidInvoices.add(invoice_id)
    const { currency_code: currency } = capture.amount
    const amount_cents = centsOf(capture.amount)
    options.ledger.add({ charge_id: capture.id, intent_id: order.id, payment_id: custom_id, amount_cents, currency })
  }

  return {
    /** Captures with an outcome. @returns the capture, or the error response */
    take(
      order: Order,
      outcome: CaptureOutcome,
      made: Pick<Capture, 'amount' | 'final_capture' | 'authorization_id'>,
    ): Capture | FakeResponse {
      if (typeof outcome === 'object') return errorResponse(422, outcome.rejected)
      const capture: Capture = { ...made, id: paypalId(), status: 'PENDING', create_time: new Date().toISOString() }
      order.captures.push(capture)
      if (outcome === 'completed') complete(order, capture)
      if (outcome === 'declined') capture.status = 'DECLINED'
      options.onCapture(order, capture)
      return capture
    },
    /** Authorizes the order's amount. @returns the authorization, or the error response */
    authorize(order: Order, outcome: CaptureOutcome): Authorization | FakeResponse {
      if (typeof outcome === 'object') return errorResponse(422, outcome.rejected)
      const status = outcome === 'completed' ? 'CREATED' : outcome === 'pending' ? 'PENDING' : 'DENIED'
      const create_time = new Date().toISOString()
      const authorization: Authorization = { id: paypalId(), amount: order.unit.amount, create_time, status }
      order.authorizations.push(authorization)
      options.onAuthorization(order, authorization)
      return authorization
    },
    nextOutcome: () => outcomes.shift() ?? 'completed',
    /** Outcomes of the next captures, one each; later captures are completed. */
    nextCaptures: (...next: readonly CaptureOutcome[]) => void outcomes.push(...next),
    complete,
    /** Whether an order with this invoice number was paid. */
    isPaid: (invoiceId: string | undefined) => invoiceId !== undefined && paidInvoices.has(invoiceId),
  }
}
