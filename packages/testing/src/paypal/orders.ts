// The fake's orders: request checks, representation, and captures.

import { currencyExponent } from '@paylog/domain/money'
import { type ChargeLedger, valueAt } from '../fakeServer.ts'
import { errorResponse, type FakeResponse, paypalId, respondWith, textAt } from './responses.ts'

export const currencies: ReadonlySet<string> = new Set([
  ...['AUD', 'BRL', 'CAD', 'CHF', 'CNY', 'CZK', 'DKK', 'EUR', 'GBP', 'HKD', 'HUF', 'ILS'],
  ...['JPY', 'MXN', 'MYR', 'NOK', 'NZD', 'PHP', 'PLN', 'SEK', 'SGD', 'THB', 'TWD', 'USD'],
])
export const withoutDecimals: ReadonlySet<string> = new Set(['HUF', 'JPY', 'TWD'])

export type Money = { readonly currency_code: string; readonly value: string }

export type PurchaseUnit = {
  readonly amount: Money
  readonly custom_id?: string
  readonly invoice_id?: string
  readonly description?: string
}

const textFields = ['custom_id', 'invoice_id', 'description'] as const
const amountField = "/purchase_units/@reference_id=='default'/amount"

/** @returns the only purchase unit, or the error response */
function readOrderRequest(
  json: unknown,
  paidInvoices: ReadonlySet<string>,
): { unit: PurchaseUnit } | { rejected: FakeResponse } {
  const units = valueAt(json, 'purchase_units')
  if (valueAt(json, 'intent') !== 'CAPTURE' || !Array.isArray(units) || units.length !== 1)
    return { rejected: errorResponse(400, 'INVALID_PARAMETER_SYNTAX') }
  const [unit] = units
  const currency_code = textAt(unit, /^.+$/, 'amount', 'currency_code')
  const value = textAt(unit, /^.{1,32}$/, 'amount', 'value')
  if (currency_code === undefined || value === undefined)
    return { rejected: errorResponse(400, 'MISSING_REQUIRED_PARAMETER', amountField) }
  const amountIssue = issueOf({ currency_code, value })
  if (amountIssue) return { rejected: errorResponse(422, amountIssue, `${amountField}/value`) }
  const texts: Partial<Record<(typeof textFields)[number], string>> = {}
  for (const field of textFields) {
    const text = valueAt(unit, field)
    if (text === undefined) continue
    if (typeof text !== 'string' || text === '' || Buffer.byteLength(text) > 127)
      return {
        rejected: errorResponse(400, 'INVALID_STRING_LENGTH', `/purchase_units/@reference_id=='default'/${field}`),
      }
    texts[field] = text
  }
  if (texts.invoice_id !== undefined && paidInvoices.has(texts.invoice_id))
    return { rejected: errorResponse(422, 'DUPLICATE_INVOICE_ID') }
  return { unit: { amount: { currency_code, value }, ...texts } }
}

function issueOf({ currency_code, value }: Money): string | undefined {
  if (!/^[A-Z]{3}$/.test(currency_code)) return 'INVALID_CURRENCY_CODE'
  if (!currencies.has(currency_code)) return 'CURRENCY_NOT_SUPPORTED'
  const [, whole, fraction] = /^(\d+)(?:\.(\d+))?$/.exec(value) ?? []
  if (whole === undefined) return 'INVALID_PARAMETER_VALUE'
  if (withoutDecimals.has(currency_code) && fraction !== undefined) return 'DECIMALS_NOT_SUPPORTED'
  if (fraction !== undefined && fraction.length > 2) return 'DECIMAL_PRECISION'
  if (whole.length > 15) return 'MAX_VALUE_EXCEEDED'
  return Number(value) > 0 ? undefined : 'CANNOT_BE_ZERO_OR_NEGATIVE'
}

/** The whole order as PayPal shows it. */
export function representation(order: Order, apiBase: string) {
  const { id, status, unit, captures, create_time } = order
  const self = `${apiBase}/v2/checkout/orders/${id}`
  const link = (rel: string, href: string, method: string) => ({ href, rel, method })
  const isOpen = status === 'CREATED' || status === 'SAVED' || status === 'PAYER_ACTION_REQUIRED'
  return {
    id,
    intent: 'CAPTURE',
    status,
    ...(isOpen ? {} : { payer }),
    purchase_units: [
      {
        reference_id: 'default',
        ...unit,
        payee,
        payments: captures.length > 0 ? { captures: captures.map((made) => shownCapture(order, made)) } : undefined,
      },
    ],
    create_time,
    links: [
      link('self', self, 'GET'),
      ...(isOpen ? [link('approve', `https://www.sandbox.paypal.com/checkoutnow?token=${id}`, 'GET')] : []),
      ...(status === 'COMPLETED' ? [] : [link('update', self, 'PATCH'), link('capture', `${self}/capture`, 'POST')]),
    ],
  }
}

/** The response to a create or capture call without `Prefer: return=representation`. */
function minimal(order: Order, apiBase: string) {
  const { id, status, links, purchase_units } = representation(order, apiBase)
  if (order.captures.length === 0) return { id, status, links }
  return {
    id,
    status,
    links,
    purchase_units: purchase_units.map(({ reference_id, payments }) => ({ reference_id, payments })),
  }
}

function shownCapture({ unit }: Order, { id, status, amount, create_time }: Capture) {
  const { custom_id, invoice_id } = unit
  return {
    id,
    status,
    ...(status === 'PENDING' ? { status_details: { reason: 'PENDING_REVIEW' } } : {}),
    amount,
    final_capture: true,
    seller_protection: { status: 'NOT_ELIGIBLE' },
    ...(custom_id === undefined ? {} : { custom_id }),
    ...(invoice_id === undefined ? {} : { invoice_id }),
    create_time,
    update_time: create_time,
  }
}

export const payer = {
  name: { given_name: 'Pat', surname: 'Example' },
  email_address: 'pat@example.com',
  payer_id: 'QYR5Z8XDVJNXQ',
  address: { country_code: 'US' },
}

export const payee = { email_address: 'merchant@example.com', merchant_id: 'C7CYMKZDG8D6E' }

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

/** The outcome of a capture call. */
export type CaptureOutcome =
  | 'completed'
  | 'pending'
  /** 422 with this issue; nothing is captured. */
  | { readonly rejected: string }
  /** The order is completed with a declined capture, as with cards. */
  | 'declined'

export type Orders = {
  /** @param isWhole whether to return the whole order, as with `Prefer: return=representation` */
  create(json: unknown, isWhole: boolean): FakeResponse
  show(orderId: string): FakeResponse
  showCapture(captureId: string): FakeResponse
  capture(orderId: string, isWhole: boolean): FakeResponse
  /** @throws Error when there is none */
  get(orderId: string): Order
  /** @throws Error when there is none */
  byCapture(captureId: string): { readonly order: Order; readonly capture: Capture }
  readonly all: ReadonlyMap<string, Order>
  remove(orderId: string): void
  /** Outcomes of the next captures, one each; later captures are completed. */
  nextCaptures(...outcomes: readonly CaptureOutcome[]): void
  /** Completes a pending capture. */
  complete(order: Order, capture: Capture): void
}

/** @param options `onCapture`: called for every capture */
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
    if (typeof outcome === 'object') return errorResponse(422, outcome.rejected)
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
      if ('rejected' in request) return request.rejected
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
    showCapture(captureId) {
      const order = [...all.values()].find(({ captures }) => captures.some(({ id }) => id === captureId))
      const made = order?.captures.find(({ id }) => id === captureId)
      if (!order || !made) return errorResponse(404, 'INVALID_RESOURCE_ID')
      const supplementary_data = { related_ids: { order_id: order.id } }
      return respondWith(200, () => ({ ...shownCapture(order, made), supplementary_data }))
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
