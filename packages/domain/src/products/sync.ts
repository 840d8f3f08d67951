// Syncing a product to a provider: its state there, the lease of the running sync, and the plan of a sync.
import { requestInFlightMs } from '../idempotentRequest.ts'
import type { ProductEvent, ProductSynced } from './events.ts'

type SyncEvent = Extract<ProductEvent, { type: 'ProductSyncStarted' | 'ProductSynced' | 'ProductSyncFailed' }>
type Started = Extract<SyncEvent, { type: 'ProductSyncStarted' }>['data']
type Failed = Extract<SyncEvent, { type: 'ProductSyncFailed' }>['data']

/** The hashes of a product's content and price; see events.ts. */
export type Hashes = Pick<ProductSynced['data'], 'content_hash' | 'price_hash'>

/** The state that a sync establishes at the provider. With `price: 'keep'` it leaves the price alone. */
export type SyncGoal = Hashes & Pick<Started, 'price'>

/**
 * A product at one provider, folded from its sync events. Content and price are separate parts, because a sync always puts the
 * content and may keep the price.
 */
export type ProviderSyncState = {
  /** The latest successful sync; `null` before the first. */
  readonly synced: ProductSynced['data'] | null
  /** Number of successful syncs. */
  readonly successes: number
  /** The number of the latest sync. */
  readonly last_sync: number
  /** The latest sync, until it has ended. It holds the lease. */
  readonly running: Started | null
  /** Earlier syncs whose calls may still reach the provider: their lease was taken over, or their outcome is unknown. */
  readonly late: readonly Started[]
  /** Whether such a sync puts other values than the running one, whose success then proves nothing. */
  readonly is_contested: boolean
  readonly content: SyncedPart
  readonly price: SyncedPart
  readonly price_key: PriceKey
  /** Hash of the latest price that we tried to put, successfully or not, unless the provider rejected it. */
  readonly requested_price_hash: string | null | undefined
}

type SyncedPart = {
  /** The last certain value: `null` for no price, `undefined` before the first. */
  readonly hash: string | null | undefined
  /** The value may have changed since. */
  readonly is_unsettled: boolean
}

/**
 * Part of the provider's idempotency key for putting a price. A repeated call has the same number, and so has one that takes
 * over. It changes when the price changes, even back to an earlier one, and after a success.
 */
type PriceKey = { readonly number: number; readonly price_hash: string | null | undefined }

const unknownPart: SyncedPart = { hash: undefined, is_unsettled: false }
const neverSynced: ProviderSyncState = {
  synced: null,
  successes: 0,
  last_sync: 0,
  running: null,
  late: [],
  is_contested: false,
  content: unknownPart,
  price: unknownPart,
  price_key: { number: 0, price_hash: undefined },
  requested_price_hash: undefined,
}

/** How long after its start the calls of a sync may still reach the provider, for example after a timeout. */
export const lateCallMs = 300_000

/** Applies a sync event. Accepts every event in every state: 1.0.0 had no lease, so its syncs may overlap. */
export function evolveSync(state: ProviderSyncState = neverSynced, event: SyncEvent): ProviderSyncState {
  const next = { ...state, last_sync: Math.max(state.last_sync, event.data.sync) }
  switch (event.type) {
    case 'ProductSyncStarted':
      return started(next, event.data)
    case 'ProductSynced':
      return succeeded(next, event.data)
    case 'ProductSyncFailed':
      return failed(next, event.data)
  }
}

function started(state: ProviderSyncState, data: Started): ProviderSyncState {
  const { price_hash } = data
  const isLate = (other: Started) => Date.parse(data.occurred_at) - Date.parse(other.occurred_at) < lateCallMs
  const late = [...state.late, ...(state.running ? [state.running] : [])].filter(isLate)
  const is_contested = late.some((other) => putsOther(other, data))
  const { price_key } = state
  const next = { ...state, running: data, late, is_contested, content: unsettled(state.content) }
  if (data.price === 'keep') return next
  return {
    ...next,
    price: unsettled(state.price),
    price_key: price_key.price_hash === price_hash ? price_key : { number: price_key.number + 1, price_hash },
    requested_price_hash: price_hash,
  }
}

function putsOther(other: SyncGoal, own: SyncGoal): boolean {
  const isPut = other.price === 'put' && own.price === 'put'
  return other.content_hash !== own.content_hash || (isPut && other.price_hash !== own.price_hash)
}

function succeeded(state: ProviderSyncState, data: ProductSynced['data']): ProviderSyncState {
  const { own, ended } = endOf(state, data)
  const updated = { ...ended, synced: data, successes: state.successes + 1 }
  if (data.mapped_locally) return { ...updated, content: settled(data.content_hash), price: settled(data.price_hash) }
  if (!own) return updated
  const { number, price_hash } = state.price_key
  const price_key = own.price === 'put' ? { number: number + 1, price_hash } : state.price_key
  if (own !== state.running || state.is_contested) return { ...updated, price_key }
  const price = own.price === 'put' ? settled(own.price_hash) : keptPrice(state.price, data)
  return { ...updated, price_key, content: settled(own.content_hash), price }
}

/** If the merchant deleted the product, its price is gone as well. */
function keptPrice(price: SyncedPart, { provider_price_id }: ProductSynced['data']): SyncedPart {
  const isGone = provider_price_id === null && typeof price.hash === 'string'
  return isGone ? { hash: undefined, is_unsettled: true } : price
}

const rejectionCodes: ReadonlySet<string> = new Set(['provider_rejected', 'currency_not_supported'])

function failed(state: ProviderSyncState, data: Failed): ProviderSyncState {
  const { own, ended } = endOf(state, data)
  const isRejected = own?.price === 'put' && rejectionCodes.has(data.code)
  return {
    ...ended,
    // Its last call may still take effect, even after another sync has ended.
    late: own && data.code === 'provider_outcome_unknown' ? [...ended.late, own] : ended.late,
    requested_price_hash: isRejected ? undefined : state.requested_price_hash,
  }
}

/** The sync that ends, and the state without it. */
function endOf(state: ProviderSyncState, { sync }: { readonly sync: number }) {
  const { running, late, content, price } = state
  if (running?.sync === sync) return { own: running, ended: { ...state, running: null } }
  const own = late.find((each) => each.sync === sync)
  if (own) return { own, ended: { ...state, late: late.filter((each) => each !== own) } }
  // It took longer than lateCallMs, so that no other sync reckoned with its calls.
  return { own, ended: { ...state, is_contested: true, content: unsettled(content), price: unsettled(price) } }
}

const settled = (hash: string | null): SyncedPart => ({ hash, is_unsettled: false })
const unsettled = (part: SyncedPart): SyncedPart => ({ ...part, is_unsettled: true })

/**
 * Whether a sync of the product holds the lease. After this time its process counts as dead, and another sync takes over. It
 * makes the same calls with the same keys, so that nothing is created twice even if the first one is only slow.
 */
export function isSyncing(state: ProviderSyncState | undefined, now: Date): boolean {
  return Boolean(state?.running && now.getTime() - Date.parse(state.running.occurred_at) < requestInFlightMs)
}

export type SyncOptions = {
  /** Hashes of the product as it should be at the provider. */
  readonly wanted: Hashes
  /** Sync even if nothing has changed. */
  readonly force: boolean
  readonly updatePrices: boolean
}

export type SyncPlan = {
  readonly status: 'created' | 'updated' | 'skipped'
  readonly goal: SyncGoal
  /** The provider has another price, which stays. */
  readonly price_differs: boolean
}

/**
 * Plans a sync. It replaces a different price only if `updatePrices` is set, or if an earlier sync with that option already
 * tried to put this price. It puts the same price again if it is unsettled. It skips nothing that is unsettled, apart from a
 * price that was not requested.
 * @param state the product at the provider, if it was ever synced
 */
export function planSync(
  state: ProviderSyncState = neverSynced,
  { wanted, force, updatePrices }: SyncOptions,
): SyncPlan {
  const { synced, content, price, requested_price_hash } = state
  if (synced === null) return { status: 'created', goal: { ...wanted, price: 'put' }, price_differs: false }
  const isOtherPrice = price.hash !== undefined && price.hash !== wanted.price_hash
  const isRequested = updatePrices || requested_price_hash === wanted.price_hash
  const isPut = isOtherPrice ? isRequested : force || price.is_unsettled
  const isStale = force || content.is_unsettled || content.hash !== wanted.content_hash
  return {
    status: isStale || isPut ? 'updated' : 'skipped',
    goal: isPut ? { ...wanted, price: 'put' } : { ...wanted, price_hash: price.hash ?? null, price: 'keep' },
    price_differs: isOtherPrice && !isPut,
  }
}

export type SyncFacts = { readonly product_id: string; readonly provider_id: string; readonly occurred_at: string }

/** Starts a sync. The process that records it calls the provider. */
export function startSync(facts: SyncFacts, goal: SyncGoal, state: ProviderSyncState = neverSynced): ProductEvent[] {
  return [{ type: 'ProductSyncStarted', data: { ...facts, sync: state.last_sync + 1, ...goal } }]
}

/** @param goal of the sync with that number @param response of the provider */
export function endSync(
  facts: SyncFacts & { readonly sync: number },
  { content_hash, price_hash, price }: SyncGoal,
  response: Pick<ProductSynced['data'], 'provider_product_id' | 'provider_price_id'> & {
    readonly kept_fields: readonly string[]
  },
  state: ProviderSyncState = neverSynced,
): ProductEvent[] {
  const hashes = { content_hash, price_hash: price === 'put' ? price_hash : (state.price.hash ?? null) }
  const { provider_product_id, kept_fields } = response
  // While it kept the price, a sync that took over may have put one. Only the absence of a price is certain.
  const isCertain = price === 'put' || response.provider_price_id === null
  const { provider_price_id } = isCertain ? response : (state.synced ?? response)
  const ids = { provider_product_id, provider_price_id, kept_fields: [...kept_fields] }
  return [{ type: 'ProductSynced', data: { ...facts, ...hashes, ...ids, mapped_locally: false } }]
}

/** Records the sync with a provider that has no catalogue and uses our product id. */
export function mapLocally(facts: SyncFacts, wanted: Hashes, state: ProviderSyncState = neverSynced): ProductEvent[] {
  const ids = { provider_product_id: facts.product_id, provider_price_id: null, kept_fields: [] }
  const data = { ...facts, sync: state.last_sync + 1, ...wanted, ...ids, mapped_locally: true }
  return [{ type: 'ProductSynced', data }]
}
