// Orders, authorizations, captures and refunds as the fake keeps and shows them.
import { centsOf, type Money, moneyOf, type OrderIntent, type OrderSource, type PurchaseUnit } from './orderRequests.ts'

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
  readonly final_capture: boolean
  /** The authorization that it was made of, if any. */
  readonly authorization_id?: string
  status: CaptureStatus
}

export type Authorization = {
  readonly id: string
  readonly amount: Money
  readonly create_time: string
  status: 'CREATED' | 'CAPTURED' | 'DENIED' | 'PARTIALLY_CAPTURED' | 'VOIDED' | 'PENDING'
}

export type RefundStatus = 'COMPLETED' | 'PENDING' | 'FAILED' | 'CANCELLED'

export type Refund = {
  readonly id: string
  readonly capture_id: string
  readonly amount: Money
  readonly custom_id: string | undefined
  readonly invoice_id: string | undefined
  readonly create_time: string
  status: RefundStatus
  reason?: string
}

export type OrderStatus = 'CREATED' | 'APPROVED' | 'COMPLETED' | 'VOIDED' | 'PAYER_ACTION_REQUIRED' | 'SAVED'

export type Order = {
  readonly id: string
  readonly create_time: string
  readonly intent: OrderIntent
  readonly unit: PurchaseUnit
  readonly source: OrderSource | undefined
  readonly authorizations: Authorization[]
  readonly captures: Capture[]
  readonly refunds: Refund[]
  status: OrderStatus
}

/** What was made of an order by this id, with its order. */
export function madeIn<Kind extends 'authorizations' | 'captures' | 'refunds'>(
  orders: ReadonlyMap<string, Order>,
  kind: Kind,
  id: string,
): { readonly order: Order; readonly made: Order[Kind][number] } | undefined {
  for (const order of orders.values()) {
    const made = order[kind].find((each) => each.id === id)
    if (made) return { order, made }
  }
  return undefined
}

const link = (rel: string, href: string, method: string) => ({ href, rel, method })

/** The whole order as PayPal shows it. */
export function representation(order: Order, apiBase: string) {
  const { id, status, intent, unit, create_time } = order
  const self = `${apiBase}/v2/checkout/orders/${id}`
  const isOpen = status === 'CREATED' || status === 'SAVED' || status === 'PAYER_ACTION_REQUIRED'
  const approval = order.source === undefined ? 'approve' : 'payer-action'
  const action = intent === 'CAPTURE' ? 'capture' : 'authorize'
  return {
    id,
    intent,
    status,
    ...(isOpen ? {} : { payer }),
    purchase_units: [{ reference_id: 'default', ...unit, payee, payments: paymentsOf(order) }],
    create_time,
    links: [
      link('self', self, 'GET'),
      ...(isOpen ? [link(approval, `https://www.sandbox.paypal.com/checkoutnow?token=${id}`, 'GET')] : []),
      ...(status === 'COMPLETED' ? [] : [link('update', self, 'PATCH'), link(action, `${self}/${action}`, 'POST')]),
    ],
  }
}

function paymentsOf(order: Order) {
  const { authorizations, captures, refunds } = order
  if (authorizations.length + captures.length === 0) return undefined
  return {
    ...(authorizations.length > 0 && { authorizations: authorizations.map((made) => shownAuthorization(order, made)) }),
    ...(captures.length > 0 && { captures: captures.map((made) => shownCapture(order, made)) }),
    ...(refunds.length > 0 && { refunds: refunds.map((made) => shownRefund(made)) }),
  }
}

/** The response to a create, capture or authorize call without `Prefer: return=representation`. */
export function minimal(order: Order, apiBase: string) {
  const { id, status, links, purchase_units } = representation(order, apiBase)
  if (order.captures.length + order.authorizations.length === 0) return { id, status, links }
  return {
    id,
    status,
    links,
    purchase_units: purchase_units.map(({ reference_id, payments }) => ({ reference_id, payments })),
  }
}

const idsOf = ({ custom_id, invoice_id }: { custom_id?: string | undefined; invoice_id?: string | undefined }) => ({
  ...(custom_id === undefined ? {} : { custom_id }),
  ...(invoice_id === undefined ? {} : { invoice_id }),
})

const payments = 'https://api.paypal.com/v2/payments'

export function shownAuthorization({ unit }: Order, { id, status, amount, create_time }: Authorization) {
  const self = `${payments}/authorizations/${id}`
  const links = [
    link('self', self, 'GET'),
    link('capture', `${self}/capture`, 'POST'),
    link('void', `${self}/void`, 'POST'),
  ]
  return { id, status, amount, ...idsOf(unit), create_time, update_time: create_time, links }
}

export function shownCapture({ id: orderId, unit }: Order, capture: Capture) {
  const { id, status, amount, create_time, final_capture, authorization_id } = capture
  const self = `${payments}/captures/${id}`
  const order = `https://api.paypal.com/v2/checkout/orders/${orderId}`
  const up = authorization_id === undefined ? order : `${payments}/authorizations/${authorization_id}`
  return {
    id,
    status,
    ...(status === 'PENDING' ? { status_details: { reason: 'PENDING_REVIEW' } } : {}),
    amount,
    final_capture,
    seller_protection: { status: 'NOT_ELIGIBLE' },
    ...idsOf(unit),
    create_time,
    update_time: create_time,
    links: [link('self', self, 'GET'), link('refund', `${self}/refund`, 'POST'), link('up', up, 'GET')],
  }
}

/** It only links to its capture. */
export function shownRefund({ id, capture_id, amount, status, reason, create_time, ...ids }: Refund) {
  const fee = moneyOf(0, amount.currency_code)
  return {
    id,
    status,
    ...(reason === undefined ? {} : { status_details: { reason } }),
    amount,
    seller_payable_breakdown: {
      gross_amount: amount,
      paypal_fee: fee,
      net_amount: amount,
      total_refunded_amount: amount,
    },
    ...idsOf(ids),
    create_time,
    update_time: create_time,
    links: [link('self', `${payments}/refunds/${id}`, 'GET'), link('up', `${payments}/captures/${capture_id}`, 'GET')],
  }
}

/** What is left of a capture: its amount without the refunds that are not failed. */
export function restOf({ refunds }: Order, { id, amount }: Capture): number {
  const own = refunds.filter(({ capture_id, status }) => capture_id === id && isLive(status))
  return own.reduce((rest, refund) => rest - centsOf(refund.amount), centsOf(amount))
}

const isLive = (status: RefundStatus) => status === 'COMPLETED' || status === 'PENDING'

/** What can still be captured of an authorization. A final capture ends it. */
export function openOf({ captures }: Order, { id, amount, status }: Authorization): number {
  const own = captures.filter((capture) => capture.authorization_id === id && capture.status !== 'DECLINED')
  const isOpen = (status === 'CREATED' || status === 'PARTIALLY_CAPTURED') && !own.some((made) => made.final_capture)
  return isOpen ? own.reduce((open, capture) => open - centsOf(capture.amount), centsOf(amount)) : 0
}
