// The orders that PayPal keeps, and what can be done to them through the API.
import { currencyExponent } from '@paylog/domain/money'
import type { ChargeLedger } from '../fakeProvider.ts'
import { type FakeResponse, respondWith, errorResponse } from './answers.ts'
import { paypalId } from './ids.ts'
import { type Money, type PurchaseUnit, readOrderRequest } from './orderRequests.ts'
import { minimal, representation } from './orderView.ts'

export type CaptureStatus = 'COMPLETED' | 'PENDING' | 'DECLINED' | 'PARTIALLY_REFUNDED' | 'REFUNDED'

export type Capture = {
  readonly id: string
  readonly amount: Money
  readonly create_time: string
  status: CaptureStatus
}

export type OrderStatus = 'CREATED' | 'APPROVED' | 'COMPLETED' | 'VOIDED' | 'PAYER_ACTION_REQUIRED' | 'SAVED'

export type Order = {
  readonly id: string
  readonly create_time: string
  readonly unit: PurchaseUnit
  readonly captures: Capture[]
  status: OrderStatus
}

/** What becomes of a capture that the API asks for. */
export type CaptureOutcome =
  | 'completed'
  | 'pending'
  /** 422 with this issue, and nothing is captured. */
  | { readonly refused: string }
  /** The order is completed by a capture that took nothing, as with cards. */
  | 'declined'

export type Orders = {
  /** @param isWhole whether the answer is to show the whole order, as with `Prefer: return=representation` */
  create(json: unknown, isWhole: boolean): FakeResponse
  show(orderId: string): FakeResponse
  capture(orderId: string, isWhole: boolean): FakeResponse
  /** @throws when there is none */
  get(orderId: string): Order
  /** @throws when there is none */
  byCapture(captureId: string): { readonly order: Order; readonly capture: Capture }
  readonly all: ReadonlyMap<string, Order>
  remove(orderId: string): void
  /** The next captures end like this, one each; then they are completed again. */
  nextCaptures(...outcomes: readonly CaptureOutcome[]): void
  /** The money of a capture has come. */
  complete(order: Order, capture: Capture): void
}

/** @param options `onCapture` is told of every capture that was made */
export function createOrders(options: {
  readonly ledger: ChargeLedger
  readonly apiBase: () => string
  readonly onCapture: (order: Order, capture: Capture) => void
}): Orders {
  const all = new Map<string, Order>()
  const paidInvoices = new Set<string>()
  const outcomes: CaptureOutcome[] = []
  const shown = (order: Order, isWhole: boolean) => () => (isWhole ? representation : minimal)(order, options.apiBase())
  const get = (orderId: string) => {
    const order = all.get(orderId)
    if (!order) throw new Error(`no order ${orderId}`)
    return order
  }

  function complete(order: Order, capture: Capture) {
    capture.status = 'COMPLETED'
    const { custom_id = null, invoice_id } = order.unit
    if (invoice_id !== undefined) paidInvoices.add(invoice_id)
    const { currency_code: currency, value } = capture.amount
    const amount_cents = Math.round(Number(value) * 10 ** currencyExponent(currency))
    options.ledger.add({ charge_id: capture.id, intent_id: order.id, payment_id: custom_id, amount_cents, currency })
  }

  function capture(orderId: string, isWhole: boolean): FakeResponse {
    const order = all.get(orderId)
    if (!order) return errorResponse(404, 'INVALID_RESOURCE_ID')
    if (order.status === 'COMPLETED') return errorResponse(422, 'ORDER_ALREADY_CAPTURED')
    if (order.status !== 'APPROVED') return errorResponse(422, 'ORDER_NOT_APPROVED')
    if (order.unit.invoice_id !== undefined && paidInvoices.has(order.unit.invoice_id))
      return errorResponse(422, 'DUPLICATE_INVOICE_ID')
    const outcome = outcomes.shift() ?? 'completed'
    if (typeof outcome === 'object') return errorResponse(422, outcome.refused)
    const { amount } = order.unit
    const made: Capture = { id: paypalId(), amount, status: 'PENDING', create_time: new Date().toISOString() }
    order.captures.push(made)
    order.status = 'COMPLETED'
    if (outcome === 'completed') complete(order, made)
    if (outcome === 'declined') made.status = 'DECLINED'
    options.onCapture(order, made)
    return respondWith(201, shown(order, isWhole))
  }

  return {
    create(json, isWhole) {
      const request = readOrderRequest(json, paidInvoices)
      if ('refused' in request) return request.refused
      const { unit } = request
      const create_time = new Date().toISOString()
      const order: Order = { id: paypalId(), create_time, unit, captures: [], status: 'CREATED' }
      all.set(order.id, order)
      return respondWith(201, shown(order, isWhole))
    },
    show(orderId) {
      const order = all.get(orderId)
      return order ? respondWith(200, shown(order, true)) : errorResponse(404, 'INVALID_RESOURCE_ID')
    },
    capture,
    get,
    byCapture(captureId) {
      for (const order of all.values())
        for (const made of order.captures) if (made.id === captureId) return { order, capture: made }
      throw new Error(`no capture ${captureId}`)
    },
    all,
    remove: (orderId) => void all.delete(orderId),
    nextCaptures: (...next) => void outcomes.push(...next),
    complete,
  }
}
