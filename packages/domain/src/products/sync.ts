// Bringing a product to a provider: what is to be done, and the record of how it went.
import type { ProductEvent, ProductSynced } from './events.ts'

type SyncEvent = Extract<ProductEvent, { type: 'ProductSyncStarted' | 'ProductSynced' | 'ProductSyncFailed' }>

/** Hashes of a product's content and of its price; see the events. */
export type Held = Pick<ProductSynced['data'], 'content_hash' | 'price_hash'>

/** A product at one provider. */
export type AtProvider = {
  /** What the last sync that succeeded left there; `null` before the first one. */
  readonly synced: ProductSynced['data'] | null
  /** Syncs that succeeded. */
  readonly successes: number
  /** The number of the sync that was started last, and what it was to leave there. */
  readonly started: { readonly sync: number } & Held
  /** A sync was started and did not succeed, so that the provider may hold something else than `synced` says. */
  readonly is_unsettled: boolean
}

/** How a product at a provider goes on. Accepts every event in every state. */
export function syncEvolved(at: AtProvider | undefined, { type, data }: SyncEvent): AtProvider {
  switch (type) {
    case 'ProductSyncStarted': {
      const { sync, content_hash, price_hash } = data
      const started = { sync, content_hash, price_hash }
      return { synced: at?.synced ?? null, successes: at?.successes ?? 0, started, is_unsettled: true }
    }
    case 'ProductSynced': {
      const { sync, content_hash, price_hash } = data
      const started = at?.started ?? { sync, content_hash, price_hash }
      return { synced: data, successes: (at?.successes ?? 0) + 1, started, is_unsettled: false }
    }
    case 'ProductSyncFailed': {
      const started = at?.started ?? { sync: data.sync, content_hash: '', price_hash: null }
      return { synced: at?.synced ?? null, successes: at?.successes ?? 0, started, is_unsettled: true }
    }
  }
}

export type SyncWish = {
  /** What the provider would hold of the product as it is. */
  readonly wanted: Held
  /** Also when nothing has changed. */
  readonly force: boolean
  readonly updatePrices: boolean
}

export type SyncPlan = {
  readonly status: 'created' | 'updated' | 'skipped'
  /** Whether the price is part of it. When it is not, the provider's stays as it is. */
  readonly with_price: boolean
  /** The provider has another price, and keeps it. */
  readonly price_differs: boolean
  /** What the provider holds afterwards. */
  readonly held: Held
}

/** What a sync has to do. @param at what is known of the product at the provider, if anything is */
export function planSync(at: AtProvider | undefined, { wanted, force, updatePrices }: SyncWish): SyncPlan {
  const synced = at?.synced ?? null
  if (synced === null) return { status: 'created', with_price: true, price_differs: false, held: wanted }
  const isOtherPrice = wanted.price_hash !== synced.price_hash
  const isStale = force || at?.is_unsettled === true
  const with_price = isOtherPrice ? updatePrices : isStale
  const status = isStale || wanted.content_hash !== synced.content_hash || with_price ? 'updated' : 'skipped'
  const held = { ...wanted, price_hash: with_price ? wanted.price_hash : synced.price_hash }
  return { status, with_price, price_differs: isOtherPrice && !with_price, held }
}

/** Which product a sync is about, and where. */
type SyncFacts = { readonly product_id: string; readonly provider_id: string; readonly occurred_at: string }

/** Whoever records it calls the provider. */
export function startSync(facts: SyncFacts, held: Held, at: AtProvider | undefined): ProductEvent[] {
  const sync = (at?.started.sync ?? 0) + 1
  return [{ type: 'ProductSyncStarted', data: { ...facts, sync, ...held } }]
}

/**
 * Whether another sync was started since, which was to leave something else there. Nobody knows whose call came last, so
 * that whoever finds it goes over the product once more.
 */
export function isOvertaken(sync: number, held: Held, { started }: AtProvider): boolean {
  const isSame = started.content_hash === held.content_hash && started.price_hash === held.price_hash
  return started.sync !== sync && !isSame
}

/** The provider holds it. What another sync has recorded already adds nothing. */
export function recordSynced(data: ProductSynced['data'], at: AtProvider | undefined): ProductEvent[] {
  const synced = at?.is_unsettled === false ? at.synced : null
  const isKnown =
    synced?.content_hash === data.content_hash &&
    synced.price_hash === data.price_hash &&
    synced.provider_product_id === data.provider_product_id &&
    synced.provider_price_id === data.provider_price_id &&
    synced.sync > data.sync
  return isKnown ? [] : [{ type: 'ProductSynced', data }]
}
