// Bringing a product to a provider: what a sync has to do, what it records, and whether another one has to follow.
import { type ProviderSyncState, type Hashes, isContested, neverSynced, type SyncGoal } from './atProvider.ts'
import type { ProductEvent, ProductSynced } from './events.ts'

export type SyncOptions = {
  /** Of the product as the provider would hold it. */
  readonly wanted: Hashes
  /** Also when nothing has changed. */
  readonly force: boolean
  readonly updatePrices: boolean
}

export type SyncPlan = {
  readonly status: 'created' | 'updated' | 'skipped'
  readonly goal: SyncGoal
  /** The provider has another price, and keeps it. */
  readonly price_differs: boolean
}

/**
 * What a sync has to do. A price is replaced only when that is asked for, or was asked of a sync whose price may be there
 * by now; one that is the product's, as far as anybody knows, is put again to be sure. Without knowing what is there
 * nothing is skipped but a price that nobody has asked for.
 * @param at what is known of the product at the provider, if anything is
 */
export function planSync(at: ProviderSyncState = neverSynced, { wanted, force, updatePrices }: SyncOptions): SyncPlan {
  const { synced, content, price, asked_price_hash } = at
  if (synced === null) return { status: 'created', goal: { ...wanted, price: 'put' }, price_differs: false }
  const isOtherPrice = price.hash !== undefined && price.hash !== wanted.price_hash
  const isRequested = updatePrices || asked_price_hash === wanted.price_hash
  const isPut = isOtherPrice ? isRequested : force || price.is_unsettled
  const isStale = force || content.is_unsettled || content.hash !== wanted.content_hash
  return {
    status: isStale || isPut ? 'updated' : 'skipped',
    goal: isPut ? { ...wanted, price: 'put' } : { ...wanted, price_hash: price.hash ?? null, price: 'keep' },
    price_differs: isOtherPrice && !isPut,
  }
}

/** Which product a sync is about, and where. */
export type SyncFacts = { readonly product_id: string; readonly provider_id: string; readonly occurred_at: string }

/** Whoever records it calls the provider. */
export function startSync(facts: SyncFacts, goal: SyncGoal, at: ProviderSyncState = neverSynced): ProductEvent[] {
  return [{ type: 'ProductSyncStarted', data: { ...facts, sync: at.last_sync + 1, ...goal } }]
}

/** What the provider answered. */
export type SyncResponse = Pick<ProductSynced['data'], 'provider_product_id' | 'provider_price_id' | 'kept_fields'>

/** @param goal of the sync with that number */
export function endSync(
  facts: SyncFacts & { readonly sync: number },
  goal: SyncGoal,
  response: SyncResponse,
  at: ProviderSyncState = neverSynced,
): ProductEvent[] {
  const { content_hash } = goal
  const left = { ...facts, content_hash, ...response, mapped_locally: false }
  if (goal.price === 'put') return [{ type: 'ProductSynced', data: { ...left, price_hash: goal.price_hash } }]
  // Another one may have put a price meanwhile. Only its absence is something that this one has seen.
  const { provider_price_id } = response.provider_price_id === null ? response : (at.synced ?? response)
  return [{ type: 'ProductSynced', data: { ...left, price_hash: at.price.hash ?? null, provider_price_id } }]
}

/** A provider without a catalogue: our own id stands for the product there. */
export function mapLocally(facts: SyncFacts, wanted: Hashes, at: ProviderSyncState = neverSynced): ProductEvent[] {
  const { product_id: provider_product_id } = facts
  const ids = { provider_product_id, provider_price_id: null, kept_fields: [] }
  const sync = at.last_sync + 1
  return [{ type: 'ProductSynced', data: { ...facts, sync, ...wanted, ...ids, mapped_locally: true } }]
}

/**
 * Whether a sync that has just succeeded is to be followed by another one: several have put different things, nobody knows
 * whose call came last, and no other of them is left to see to it.
 */
export function needsAnotherSync(
  at: ProviderSyncState,
  options: Omit<SyncOptions, 'force'> & { readonly now: string },
): boolean {
  const { status, goal } = planSync(at, { ...options, force: false })
  const isUnsettled = at.content.is_unsettled || (at.price.is_unsettled && goal.price === 'put')
  return status !== 'skipped' && isUnsettled && !isContested(at, goal, options.now)
}
