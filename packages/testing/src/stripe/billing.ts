// Subscriptions and invoices of the fake Stripe, which exist only in its events.
import { stripeId } from './bodies.ts'

/** API versions since 2025 have a subscription's period and an invoice's subscription in other fields. */
export type ApiShape = 'since_2025' | 'before_2025'

const monthSeconds = 30 * 24 * 60 * 60

export type SubscriptionFields = {
  readonly id?: string
  readonly status?: string
  readonly customer?: string
  readonly created?: number
  readonly current_period_end?: number
  readonly shape?: ApiShape
}

export function subscriptionBody(fields: SubscriptionFields = {}) {
  const id = fields.id ?? stripeId('sub')
  const created = fields.created ?? 1_767_268_800
  const period = {
    current_period_end: fields.current_period_end ?? created + monthSeconds,
    current_period_start: created,
  }
  const isOld = fields.shape === 'before_2025'
  return {
    id,
    object: 'subscription',
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: created,
    cancel_at_period_end: false,
    cancellation_details: { comment: null, feedback: null, reason: null },
    collection_method: 'charge_automatically',
    created,
    currency: 'usd',
    ...(isOld ? period : {}),
    customer: fields.customer ?? stripeId('cus'),
    default_payment_method: null,
    items: {
      object: 'list',
      data: [
        {
          id: stripeId('si'),
          object: 'subscription_item',
          created,
          ...(isOld ? {} : period),
          metadata: {},
          price: { ...price, created },
          quantity: 1,
          subscription: id,
        },
      ],
      url: `/v1/subscription_items?subscription=${id}`,
    },
    latest_invoice: stripeId('in'),
    livemode: false,
    metadata: {},
    start_date: created,
    status: fields.status ?? 'active',
  }
}

const price = {
  id: 'price_example',
  object: 'price',
  active: true,
  billing_scheme: 'per_unit',
  currency: 'usd',
  livemode: false,
  metadata: {},
  product: 'prod_example',
  recurring: { interval: 'month', interval_count: 1, meter: null, usage_type: 'licensed' },
  type: 'recurring',
  unit_amount: 2000,
  unit_amount_decimal: '2000',
}

export type InvoiceFields = {
  readonly subscription?: string | null
  readonly customer?: string
  readonly customer_email?: string | null
  readonly amount?: number
  readonly paid?: boolean
  readonly billing_reason?: string
  readonly created?: number
  readonly shape?: ApiShape
  readonly lines?: readonly InvoiceLine[]
}

/** `period_end` in Unix seconds. */
export type InvoiceLine = { readonly period_end: number; readonly proration?: boolean }

function lineBody({ period_end, proration = false }: InvoiceLine, isOld: boolean) {
  const period = { start: period_end - monthSeconds, end: period_end }
  const details = { subscription_item_details: { proration }, invoice_item_details: null }
  return { id: stripeId('il'), object: 'line_item', period, ...(isOld ? { proration } : { parent: details }) }
}

export function invoiceBody(fields: InvoiceFields = {}) {
  const id = stripeId('in')
  const created = fields.created ?? 1_767_268_800
  const amount = fields.amount ?? 2000
  const paid = fields.paid ?? true
  const subscription = fields.subscription === undefined ? stripeId('sub') : fields.subscription
  const isOld = fields.shape === 'before_2025'
  const parent =
    subscription === null
      ? null
      : {
          subscription_details: { metadata: {}, subscription },
          type: 'subscription_details',
        }
  return {
    id,
    object: 'invoice',
    account_country: 'US',
    account_name: 'Example',
    amount_due: amount,
    amount_paid: paid ? amount : 0,
    amount_remaining: paid ? 0 : amount,
    attempt_count: 1,
    attempted: true,
    auto_advance: !paid,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
    billing_reason: fields.billing_reason ?? (subscription === null ? 'manual' : 'subscription_cycle'),
    collection_method: 'charge_automatically',
    created,
    currency: 'usd',
    customer: fields.customer ?? stripeId('cus'),
    customer_email: fields.customer_email ?? null,
    default_payment_method: null,
    lines: {
      object: 'list',
      data: (fields.lines ?? []).map((line) => lineBody(line, isOld)),
      has_more: false,
      url: `/v1/invoices/${id}/lines`,
    },
    livemode: false,
    metadata: {},
    next_payment_attempt: paid ? null : created + 86_400,
    number: 'EXAMPLE-0001',
    ...(isOld ? { paid, paid_out_of_band: false, subscription, total_tax_amounts: [] } : { parent, total_taxes: [] }),
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
    period_end: created,
    period_start: created - monthSeconds,
    status: paid ? 'paid' : 'open',
    status_transitions: {
      finalized_at: created,
      paid_at: paid ? created : null,
    },
    subtotal: amount,
    total: amount,
  }
}
