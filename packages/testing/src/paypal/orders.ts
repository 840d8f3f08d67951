// The fake's orders: created, authorized and captured, and the payments that they lead to.

import type { CaptureOutcome, Captures } from './captures.ts'
import { type OrderSource, readOrderRequest } from './orderRequests.ts'
import { errorResponse, type FakeResponse, paypalId, respondWith } from './responses.ts'
import { type Capture, minimal, type Order, representation, shownCapture } from './shownOrder.ts'

export type Orders = {
  /** @param isWhole whether to return the whole order, as with `Prefer: return=representation` */
  create(json: unknown, isWhole: boolean): FakeResponse
  show(orderId: string): FakeResponse
  showCapture(captureId: string): FakeResponse
  /** @param action which of them the call asks for; only the order's own intent is accepted */
  pay(orderId: string, action: 'capture' | 'authorize', isWhole: boolean): FakeResponse
  /** @throws Error when there is none */
  get(orderId: string): Order
  /** @throws Error when there is none */
  byCapture(captureId: string): { readonly order: Order; readonly capture: Capture }
  readonly all: ReadonlyMap<string, Order>
  remove(orderId: string): void
}

export type OrdersOptions = {
  readonly captures: Captures
  readonly apiBase: () => string
  /** The kind of a saved method; `undefined` for an unknown one. */
  readonly vaultedKind: (vaultId: string) => string | undefined
}

export function createOrders(options: OrdersOptions): Orders {
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
    create(json, isWhole) {
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
    show(orderId) {
      const order = all.get(orderId)
      return order ? respondWith(200, shown(order, true)) : errorResponse(404, 'INVALID_RESOURCE_ID')
    },
    showCapture(captureId) {
      const order = [...all.values()].find(({ captures }) => captures.some(({ id }) => id === captureId))
      const made = order?.captures.find(({ id }) => id === captureId)
      if (!order || !made) return errorResponse(404, 'INVALID_RESOURCE_ID')
      const supplementary_data = { related_ids: { order_id: order.id } }
      return respondWith(200, () => ({ ...shownCapture(order, made), supplementary_data }))
    },
    pay(orderId, action, isWhole) {
      const order = all.get(orderId)
      if (!order) return errorResponse(404, 'INVALID_RESOURCE_ID')
      if (action !== order.intent.toLowerCase()) return errorResponse(422, 'ACTION_DOES_NOT_MATCH_INTENT')
      if (order.status === 'COMPLETED')
        return errorResponse(422, action === 'capture' ? 'ORDER_ALREADY_CAPTURED' : 'ORDER_ALREADY_AUTHORIZED')
      if (order.status !== 'APPROVED') return errorResponse(422, 'ORDER_NOT_APPROVED')
      return settle(order, captures.nextOutcome()) ?? respondWith(201, shown(order, isWhole))
    },
    get(orderId) {
      const order = all.get(orderId)
      if (!order) throw new Error(`no order ${orderId}`)
      return order
    },
    byCapture(captureId) {
      for (const order of all.values())
        for (const made of order.captures) if (made.id === captureId) return { order, capture: made }
      throw new Error(`no capture ${captureId}`)
    },
    all,
    remove: (orderId) => void all.delete(orderId),
  }
}

function vaultProblem(source: OrderSource | undefined, kindOf: OrdersOptions['vaultedKind']): FakeResponse | undefined {
  if (source?.vault_id === undefined) return undefined
  const kind = kindOf(source.vault_id)
  if (kind === undefined) return errorResponse(422, 'TOKEN_ID_NOT_FOUND')
  return kind === source.kind ? undefined : errorResponse(422, 'MISMATCHED_VAULT_ID_TO_PAYMENT_SOURCE')
}
