// Everything that can happen to a product, as recorded facts.
import { type Static, Type } from 'typebox'
import type { EventsOf } from '../events.ts'
import { Id, Instant, Nullable } from '../fields.ts'

export const ProductType = Type.Enum(['physical', 'digital', 'service', 'subscription'])
export type ProductType = Static<typeof ProductType>

export const BillingInterval = Type.Enum(['day', 'week', 'month', 'year'])
export type BillingInterval = Static<typeof BillingInterval>

const Text = Nullable(Type.String())

/** What an administrator says of a product, and may change later. Amounts are in minor units. */
export const ProductContent = Type.Object({
  name: Type.String(),
  description: Text,
  product_type: ProductType,
  is_recurring: Type.Boolean(),
  subtotal_cents: Type.Integer(),
  tax_cents: Type.Integer(),
  discount_cents: Type.Integer(),
  total_cents: Type.Integer(),
  /** Upper case. */
  currency: Type.String(),
  /** Null exactly when it is not recurring. */
  billing_interval: Nullable(BillingInterval),
  trial_days: Nullable(Type.Integer()),
  category_id: Text,
})
export type ProductContent = Static<typeof ProductContent>

/** The administrator's part of something that holds more. */
export function productContentOf(from: ProductContent): ProductContent {
  const { name, description, product_type, is_recurring, billing_interval, trial_days, category_id } = from
  const { subtotal_cents, tax_cents, discount_cents, total_cents, currency } = from
  const amounts = { subtotal_cents, tax_cents, discount_cents, total_cents, currency }
  return { name, description, product_type, is_recurring, ...amounts, billing_interval, trial_days, category_id }
}

/** What every event of a product repeats. */
const facts = { product_id: Id, occurred_at: Instant }

/** What every event of a synchronisation repeats. */
const syncFacts = {
  ...facts,
  provider_id: Type.String(),
  /** Counted from 1, for each provider. */
  sync: Type.Integer(),
}

/** Hashes of what the provider is to hold, or holds: SHA-256 in hex. */
const hashes = {
  content_hash: Type.String(),
  /** Null where the provider keeps no price. */
  price_hash: Text,
}

export const productEvents = {
  ProductAdded: Type.Object({
    ...facts,
    ...ProductContent.properties,
    is_active: Type.Boolean(),
    /** SHA-256 of the request, when it came with an Idempotency-Key. */
    request_fingerprint: Text,
  }),
  /** Only what is another value than before. */
  ProductChanged: Type.Object({ ...facts, changes: Type.Partial(ProductContent) }),
  ProductDeactivated: Type.Object(facts),
  ProductReactivated: Type.Object(facts),
  /** A provider is about to be called. Until the sync ends, nobody knows what the provider holds. */
  ProductSyncStarted: Type.Object({
    ...syncFacts,
    ...hashes,
    /** `keep`: whatever price is there stays as it is. */
    price: Type.Enum(['put', 'keep']),
  }),
  /** The provider holds the product as the hashes say, unless others were at it at the same time. */
  ProductSynced: Type.Object({
    ...syncFacts,
    ...hashes,
    provider_product_id: Type.String(),
    /** Of its price there, or of its plan. */
    provider_price_id: Text,
    /** The provider has no catalogue: our own id stands for the product there, and nobody was called. */
    mapped_locally: Type.Boolean(),
    /** Fields that the provider does not let be changed, and which differ there. */
    kept_fields: Type.Array(Type.String()),
  }),
  /** It came to nothing, or to nobody knows what. The next one goes over it all. */
  ProductSyncFailed: Type.Object({ ...syncFacts, code: Type.String(), message: Type.String() }),
}
export type ProductEvent = EventsOf<typeof productEvents>
export type ProductAdded = Extract<ProductEvent, { type: 'ProductAdded' }>
export type ProductSynced = Extract<ProductEvent, { type: 'ProductSynced' }>
