// The events of a product.
import { type Static, Type } from 'typebox'
import type { EventsOf } from '../events.ts'
import { Id, Instant, Nullable, pick } from '../fields.ts'

export const ProductType = Type.Enum(['physical', 'digital', 'service', 'subscription'], { title: 'ProductType' })
export type ProductType = Static<typeof ProductType>

export const BillingInterval = Type.Enum(['day', 'week', 'month', 'year'], { title: 'BillingInterval' })
export type BillingInterval = Static<typeof BillingInterval>

const Text = Nullable(Type.String())

/** The fields that an administrator sets and may change. Amounts are in minor units. */
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

/** Picks the content fields. Their order must never change: ids of imported products derive from it. */
export function productContentOf(from: ProductContent): ProductContent {
  return pick(ProductContent, from)
}

/** Fields of every product event. */
const facts = { product_id: Id, occurred_at: Instant }

/** Fields of every sync event. */
const syncFacts = {
  ...facts,
  provider_id: Type.String(),
  /** Number of the sync, from 1 for each provider. */
  sync: Type.Integer(),
}

/** SHA-256 in hex of the product at the provider: as planned when a sync starts, as stored when it succeeded. */
const hashes = {
  content_hash: Type.String(),
  /** Null for a provider that stores no prices. */
  price_hash: Text,
}

export const productEvents = {
  ProductAdded: Type.Object({
    ...facts,
    ...ProductContent.properties,
    is_active: Type.Boolean(),
    /** SHA-256 of the request; null without an Idempotency-Key. */
    request_fingerprint: Text,
  }),
  /** Only fields with a new value. */
  ProductChanged: Type.Object({ ...facts, changes: Type.Partial(ProductContent) }),
  ProductDeactivated: Type.Object(facts),
  ProductReactivated: Type.Object(facts),
  /** A provider is about to be called. Until the sync ends, the state at the provider is unknown. */
  ProductSyncStarted: Type.Object({
    ...syncFacts,
    ...hashes,
    /** `keep` leaves the provider's price unchanged. */
    price: Type.Enum(['put', 'keep']),
  }),
  /** The product at the provider matches the hashes, unless concurrent syncs changed it too. */
  ProductSynced: Type.Object({
    ...syncFacts,
    ...hashes,
    provider_product_id: Type.String(),
    /** The id of the price or plan. */
    provider_price_id: Text,
    /** The provider has no catalogue: our id is used there, and no call was made. */
    mapped_locally: Type.Boolean(),
    /** Fields that differ at the provider, which does not allow changing them. */
    kept_fields: Type.Array(Type.String()),
  }),
  /** The sync failed or its outcome is unknown. The next one repeats everything. */
  ProductSyncFailed: Type.Object({ ...syncFacts, code: Type.String(), message: Type.String() }),
}
export type ProductEvent = EventsOf<typeof productEvents>
export type ProductAdded = Extract<ProductEvent, { type: 'ProductAdded' }>
export type ProductSynced = Extract<ProductEvent, { type: 'ProductSynced' }>
