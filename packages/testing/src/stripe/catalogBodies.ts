// The products and prices that the fake Stripe keeps, with the fields of this version of the API.
import { stripeId } from './ids.ts'

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
    images: [],
    livemode: false,
    marketing_features: [],
    metadata: { ...product.metadata },
    name: product.name,
    package_dimensions: null,
    shippable: null,
    statement_descriptor: null,
    tax_code: null,
    tax_details: null,
    type: 'service',
    unit_label: null,
    updated: created,
    url: null,
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
  readonly nickname?: string | null
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
    custom_unit_amount: null,
    livemode: false,
    lookup_key: null,
    metadata: { ...price.metadata },
    nickname: price.nickname ?? null,
    product: price.product,
    recurring: recurring
      ? {
          interval: recurring.interval,
          interval_count: recurring.interval_count ?? 1,
          meter: null,
          trial_period_days: recurring.trial_period_days ?? null,
          usage_type: 'licensed',
        }
      : null,
    tax_behavior: 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: recurring ? 'recurring' : 'one_time',
    unit_amount: price.unit_amount,
    unit_amount_decimal: String(price.unit_amount),
  }
}
