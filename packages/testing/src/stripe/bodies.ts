// The fake Stripe's objects in its API version: customers, methods, setup intents, products and prices.
import { randomBytes } from 'node:crypto'

export const apiVersion = '2026-10-28.endive'

/** An id in Stripe's format. */
export function stripeId(prefix: string): string {
  return `${prefix}_${randomBytes(18).toString('base64url').replaceAll(/[-_]/g, 'x')}`
}

/** The secret that a payer's form needs to show an intent. */
export function stripeSecret(id: string): string {
  return `${id}_secret_${randomBytes(16).toString('hex')}`
}

const noAddress = { city: null, country: null, line1: null, line2: null, postal_code: null, state: null }
/** Empty billing details. */
export const emptyBillingDetails = { address: noAddress, email: null, name: null, phone: null, tax_id: null }

export function setupIntentBody(customer: string | null, usage: string, created: number) {
  const id = stripeId('seti')
  return {
    id,
    object: 'setup_intent' as const,
    automatic_payment_methods: { allow_redirects: 'never', enabled: true },
    client_secret: stripeSecret(id),
    created,
    customer,
    livemode: false,
    metadata: {},
    payment_method: null as string | null,
    payment_method_options: { card: { request_three_d_secure: 'automatic' } },
    payment_method_types: ['card'],
    status: 'requires_payment_method',
    usage,
  }
}

export type Card = {
  readonly brand?: string
  readonly last4?: string
  readonly exp_month?: number
  readonly exp_year?: number
  /** `apple_pay`, `google_pay`, … */
  readonly wallet?: string | null
}

/** The fields of a saved card that can change. */
export type CardChange = Pick<Card, 'last4' | 'exp_month' | 'exp_year'>

export type StripeMethod = ReturnType<typeof methodBody>

export function methodBody(card: Card, created: number) {
  return {
    id: stripeId('pm'),
    object: 'payment_method' as const,
    allow_redisplay: 'unspecified',
    billing_details: emptyBillingDetails,
    card: {
      brand: card.brand ?? 'visa',
      checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: null },
      country: 'US',
      display_brand: card.brand ?? 'visa',
      exp_month: card.exp_month ?? 8,
      exp_year: card.exp_year ?? 2030,
      fingerprint: 'AOB934RVNwzk6xtn',
      funding: 'credit',
      last4: card.last4 ?? '4242',
      networks: { available: [card.brand ?? 'visa'], preferred: null },
      three_d_secure_usage: { supported: true },
      wallet: card.wallet ? { dynamic_last4: null, type: card.wallet } : null,
    },
    created,
    customer: null as string | null,
    livemode: false,
    metadata: {},
    type: 'card',
  }
}

export type StripeCustomer = ReturnType<typeof customerBody>

export function customerBody(
  person: { readonly email?: string | null; readonly name?: string | null },
  created: number,
) {
  return {
    id: stripeId('cus'),
    object: 'customer' as const,
    created,
    email: person.email ?? null,
    invoice_prefix: 'EXAMPLE',
    invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
    livemode: false,
    metadata: {},
    name: person.name ?? null,
    next_invoice_sequence: 1,
    tax_exempt: 'none',
  }
}

export type NewProduct = {
  readonly id?: string | null
  readonly name: string
  readonly description?: string | null
  readonly active?: boolean | null
  readonly metadata?: Readonly<Record<string, string>>
}

export type StripeProduct = ReturnType<typeof productBody>

export function productBody(product: NewProduct, created: number) {
  return {
    id: product.id ?? stripeId('prod'),
    object: 'product' as const,
    active: product.active ?? true,
    created,
    default_price: null as string | null,
    description: product.description ?? null,
    livemode: false,
    metadata: { ...product.metadata },
    name: product.name,
    type: 'service',
    updated: created,
  }
}

export type NewPrice = {
  readonly product: string
  /** Lower case. */
  readonly currency: string
  readonly unit_amount: number
  readonly recurring?: {
    readonly interval: string
    readonly interval_count?: number | null
    readonly trial_period_days?: number | null
  } | null
  readonly metadata?: Readonly<Record<string, string>>
  readonly active?: boolean | null
}

export type StripePrice = ReturnType<typeof priceBody>

export function priceBody(price: NewPrice, created: number) {
  const { recurring } = price
  return {
    id: stripeId('price'),
    object: 'price' as const,
    active: price.active ?? true,
    billing_scheme: 'per_unit',
    created,
    currency: price.currency,
    livemode: false,
    metadata: { ...price.metadata },
    nickname: null,
    product: price.product,
    recurring: recurring
      ? {
          interval: recurring.interval,
          interval_count: recurring.interval_count ?? 1,
          trial_period_days: recurring.trial_period_days ?? null,
          usage_type: 'licensed',
        }
      : null,
    tax_behavior: 'unspecified',
    type: recurring ? 'recurring' : 'one_time',
    unit_amount: price.unit_amount,
    unit_amount_decimal: String(price.unit_amount),
  }
}
