// The fake's orders: created, authorized and captured, and the payments that they lead to.

import type { CaptureOutcome, Captures } from './captures.ts'
import { type OrderSource, readOrderRequest } from './orderRequests.ts'
import { errorResponse, type FakeResponse, missing, paypalId, respondWith } from './responses.ts'
import { madeIn, minimal, type Order, representation, shownCapture } from './shownOrder.ts'

export type Orders = ReturnType<typeof createOrders>

export type OrdersOptions = {
  readonly captures: Captures
  readonly apiBase: () => string
  /** The kind of a saved method; `undefined` for an unknown one. */
  readonly vaultedKind: (vaultId: string) => string | undefined
}

export function createOrders(options: OrdersOptions) {
  const all = new Map<string, Order>()
  const { captures } = options
  const shown = (order: Order, isWhole: boolean) => () => (isWhole ? representation : minimal)(order, options.apiBase())

  /** Takes or authorizes the money of an approved order. @returns the error response, if any */
  function settle(order: Order, outcome: CaptureOutcome): FakeResponse | undefined {
    if (captures.isPaid(order.unit.invoice_id)) return errorResponse(422, 'DUPLICATE_INVOICE_ID')
    const before = order.status
    order.status = 'COMPLETED'
    const whole = { amount: order.unit.amount, final_capture: true }
    const settled =
      order.intent === 'CAPTURE' ? captures.take(order, outcome, whole) : captures.authorize(order, outcome)
    if (!('body' in settled)) return undefined
    order.status = before
    return settled
  }

  return {
    /** @param isWhole whether to return the whole order, as with `Prefer: return=representation` */
    create(json: unknown, isWhole: boolean): FakeResponse {
      const request = readOrderRequest(json, captures.isPaid)
      if ('rejected' in request) return request.rejected
      const { intent, unit, source } = request
      const problem = vaultProblem(source, options.vaultedKind)
      if (problem) return problem
      const status = source ? 'PAYER_ACTION_REQUIRED' : 'CREATED'
      const lists = { authorizations: [], captures: [], refunds: [] }
      const create_time = new Date().toISOString()
      const order: Order = { id: paypalId(), create_time, intent, unit, source, ...lists, status }
      const outcome = source?.vault_id === undefined ? 'payer_action' : captures.nextOutcome()
      const rejected = outcome === 'payer_action' ? undefined : settle(order, outcome)
      if (rejected) return rejected
      all.set(order.id, order)
      return respondWith(201, shown(order, isWhole))
    },
    show(orderId: string): FakeResponse {
      const order = all.get(orderId)
      return order ? respondWith(200, shown(order, true)) : missing
    },
    showCapture(captureId: string): FakeResponse {
      const found = madeIn(all, 'captures', captureId)
      if (!found) return missing
      const { order, made } = found
      const supplementary_data = { related_ids: { order_id: order.id } }
      return respondWith(200, () => ({ ...shownCapture(order, made), supplementary_data }))
    },
    /** @param action which of them the call asks for; only the order's own intent is accepted */
    pay(orderId: string, action: 'capture' | 'authorize', isWhole: boolean): FakeResponse {
      const order = all.get(orderId)
      if (!order) return missing
      if (action !== order.intent.toLowerCase()) return errorResponse(422, 'ACTION_DOES_NOT_MATCH_INTENT')
      if (order.status === 'COMPLETED')
        return errorResponse(422, action === 'capture' ? 'ORDER_ALREADY_CAPTURED' : 'ORDER_ALREADY_AUTHORIZED')
      if (order.status !== 'APPROVED') return errorResponse(422, 'ORDER_NOT_APPROVED')
      return settle(order, captures.nextOutcome()) ?? respondWith(201, shown(order, isWhole))
    },
    /** @throws Error when there is none */
    get(orderId: string): Order {
      const order = all.get(orderId)
      if (!order) throw new Error(`no order ${orderId}`)
      return order
    },
    /** @throws Error when there is none */
    byCapture(captureId: string) {
      const found = madeIn(all, 'captures', captureId)
      if (!found) throw new Error(`no capture ${captureId}`)
      return { order: found.order, capture: found.made }
    },
    all: all as ReadonlyMap<string, Order>,
    remove: (orderId: string) => void all.delete(orderId),
  }
}

function vaultProblem(source: OrderSource | undefined, kindOf: OrdersOptions['vaultedKind']): FakeResponse | undefined {
  if (source?.vault_id === undefined) return undefined
  const kind = kindOf(source.vault_id)
  if (kind === undefined) return errorResponse(422, 'TOKEN_ID_NOT_FOUND')
  return kind === source.kind ? undefined : errorResponse(422, 'MISMATCHED_VAULT_ID_TO_PAYMENT_SOURCE')
}
