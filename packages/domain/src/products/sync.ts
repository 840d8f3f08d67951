// Syncing a product to a provider: its state there, which concurrent syncs may change, and the plan of a sync.
import type { ProductEvent, ProductSynced } from './events.ts'

type SyncEvent = Extract<ProductEvent, { type: 'ProductSyncStarted' | 'ProductSynced' | 'ProductSyncFailed' }>
type Started = Extract<SyncEvent, { type: 'ProductSyncStarted' }>['data']
type Failed = Extract<SyncEvent, { type: 'ProductSyncFailed' }>['data']

/** The hashes of a product's content and price; see events.ts. */
export type Hashes = Pick<ProductSynced['data'], 'content_hash' | 'price_hash'>

/** The state that a sync establishes at the provider. With `price: 'keep'` it leaves the price alone. */
export type SyncGoal = Hashes & Pick<Started, 'price'>

/**
 * A product at one provider, folded from its sync events.
 *
 * A sync is open from its start until its end, or until its calls can no longer arrive. If two open syncs have different
 * goals, the order of their calls at the provider is unknown: the part that they both put is contested, and their success
 * proves nothing. A part is settled when its value is certain: not contested and not half written. Content and price are
 * separate parts, because a sync may put one and keep the other.
 */
export type ProviderSyncState = {
  /** The latest successful sync; `null` before the first. */
  readonly synced: ProductSynced['data'] | null
  /** Number of successful syncs. */
  readonly successes: number
  /** The number of the latest sync. */
  readonly last_sync: number
  readonly content: SyncedPart
  readonly price: SyncedPart
  readonly open: readonly OpenSync[]
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

type OpenSync = SyncGoal & { readonly sync: number; readonly started_at: string; readonly contested: Contested }

type Contested = { readonly content: boolean; readonly price: boolean }

/**
 * Part of the provider's idempotency key for putting a price. Concurrent and repeated calls share a number. It changes when
 * the price changes, even back to an earlier one, and after a success.
 */
type PriceKey = { readonly number: number; readonly price_hash: string | null | undefined }

const unknownSyncedPart: SyncedPart = { hash: undefined, is_unsettled: false }
const neverSynced: ProviderSyncState = {
  synced: null,
  successes: 0,
  last_sync: 0,
  content: unknownSyncedPart,
  price: unknownSyncedPart,
  open: [],
  price_key: { number: 0, price_hash: undefined },
  requested_price_hash: undefined,
}

/**
 * How long after its start the calls of a sync may still reach the provider, for example from a crashed process or after a
 * timeout. A sync that takes longer counts as closed, which is detected at its end.
 */
export const lateCallMs = 300_000

/** Applies a sync event. Accepts every event in every state. */
export function evolveSync(state: ProviderSyncState = neverSynced, event: SyncEvent): ProviderSyncState {
  switch (event.type) {
    case 'ProductSyncStarted':
      return started(state, event.data)
    case 'ProductSynced':
      return succeeded(state, event.data)
    case 'ProductSyncFailed':
      return failed(state, event.data)
  }
}

function started(
  state: ProviderSyncState,
  { sync, content_hash, price_hash, price, occurred_at: started_at }: Started,
): ProviderSyncState {
  const goal = { content_hash, price_hash, price }
  const others = stillOpen(state, started_at)
  const contested = others.map((other) => conflict(other, goal)).reduce(either, { content: false, price: false })
  const contestedOthers = others.map((other) => ({
    ...other,
    contested: either(other.contested, conflict(other, goal)),
  }))
  const isOtherPrice = price === 'put' && state.price_key.price_hash !== price_hash
  return {
    ...state,
    last_sync: Math.max(state.last_sync, sync),
    content: unsettled(state.content),
    price: price === 'put' ? unsettled(state.price) : state.price,
    open: [...contestedOthers, { ...goal, sync, started_at, contested }],
    price_key: isOtherPrice ? { number: state.price_key.number + 1, price_hash } : state.price_key,
    requested_price_hash: price === 'put' ? price_hash : state.requested_price_hash,
  }
}

function succeeded(state: ProviderSyncState, data: ProductSynced['data']): ProviderSyncState {
  const ended = openSync(state, data)
  const updated = {
    ...state,
    synced: data,
    successes: state.successes + 1,
    last_sync: Math.max(state.last_sync, data.sync),
  }
  if (data.mapped_locally)
    return { ...updated, content: settled(data.content_hash), price: settled(data.price_hash), open: [] }
  // It took longer than lateCallMs, so other syncs no longer counted it as open.
  if (!ended) return { ...updated, content: unsettled(state.content), price: unsettled(state.price) }
  const { number, price_hash } = state.price_key
  return {
    ...updated,
    content: ended.contested.content ? unsettled(state.content) : settled(ended.content_hash),
    price: priceAfter(state, ended, data),
    open: without(state, ended),
    price_key: ended.price === 'put' ? { number: number + 1, price_hash } : state.price_key,
  }
}

function priceAfter(
  { price }: ProviderSyncState,
  ended: OpenSync,
  { provider_price_id }: ProductSynced['data'],
): SyncedPart {
  if (ended.price === 'put') return ended.contested.price ? unsettled(price) : settled(ended.price_hash)
  // If the merchant deleted the product, its price is gone as well.
  const isGone = provider_price_id === null && typeof price.hash === 'string'
  return isGone ? unsettled(unknownSyncedPart) : price
}

const rejectionCodes: ReadonlySet<string> = new Set(['provider_rejected', 'currency_not_supported'])

function failed(state: ProviderSyncState, data: Failed): ProviderSyncState {
  const ended = openSync(state, data)
  const isRejected = ended?.price === 'put' && rejectionCodes.has(data.code)
  return {
    ...state,
    last_sync: Math.max(state.last_sync, data.sync),
    content: unsettled(state.content),
    price: ended?.price === 'keep' ? state.price : unsettled(state.price),
    // Its last call may still take effect, even after another sync has ended.
    open: data.code === 'provider_outcome_unknown' ? state.open : without(state, ended),
    requested_price_hash: isRejected ? undefined : state.requested_price_hash,
  }
}

const settled = (hash: string | null): SyncedPart => ({ hash, is_unsettled: false })
const unsettled = ({ hash }: SyncedPart): SyncedPart => ({ hash, is_unsettled: true })

const openSync = ({ open }: ProviderSyncState, { sync }: { readonly sync: number }) =>
  open.find((one) => one.sync === sync)
const without = ({ open }: ProviderSyncState, ended: OpenSync | undefined) => open.filter((one) => one !== ended)

function stillOpen({ open }: ProviderSyncState, now: string): readonly OpenSync[] {
  return open.filter(({ started_at }) => Date.parse(now) - Date.parse(started_at) < lateCallMs)
}

/** The parts for which both syncs put different values. */
function conflict(one: SyncGoal, other: SyncGoal): Contested {
  return {
    content: one.content_hash !== other.content_hash,
    price: one.price === 'put' && other.price === 'put' && one.price_hash !== other.price_hash,
  }
}

const either = (one: Contested, other: Contested): Contested => ({
  content: one.content || other.content,
  price: one.price || other.price,
})

/** Whether an open sync puts something other than this goal. */
function isContested(state: ProviderSyncState, goal: SyncGoal, now: string): boolean {
  return stillOpen(state, now).some((other) => {
    const { content, price } = conflict(other, goal)
    return content || price
  })
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

/** The provider's response. */
export type SyncResponse = Pick<ProductSynced['data'], 'provider_product_id' | 'provider_price_id' | 'kept_fields'>

/** @param goal of the sync with that number */
export function endSync(
  facts: SyncFacts & { readonly sync: number },
  goal: SyncGoal,
  response: SyncResponse,
  state: ProviderSyncState = neverSynced,
): ProductEvent[] {
  const { content_hash } = goal
  const left = { ...facts, content_hash, ...response, mapped_locally: false }
  if (goal.price === 'put') return [{ type: 'ProductSynced', data: { ...left, price_hash: goal.price_hash } }]
  // Another sync may have put a price in the meantime. Only the absence of a price is certain.
  const { provider_price_id } = response.provider_price_id === null ? response : (state.synced ?? response)
  return [{ type: 'ProductSynced', data: { ...left, price_hash: state.price.hash ?? null, provider_price_id } }]
}

/** Records the sync with a provider that has no catalogue and uses our product id. */
export function mapLocally(facts: SyncFacts, wanted: Hashes, state: ProviderSyncState = neverSynced): ProductEvent[] {
  const { product_id: provider_product_id } = facts
  const ids = { provider_product_id, provider_price_id: null, kept_fields: [] }
  const sync = state.last_sync + 1
  return [{ type: 'ProductSynced', data: { ...facts, sync, ...wanted, ...ids, mapped_locally: true } }]
}

/**
 * Whether a successful sync must be followed by another: concurrent syncs put different values, the order of their calls
 * is unknown, and no open sync will settle it.
 */
export function needsAnotherSync(
  state: ProviderSyncState,
  options: Omit<SyncOptions, 'force'> & { readonly now: string },
): boolean {
  const { status, goal } = planSync(state, { ...options, force: false })
  const isUnsettled = state.content.is_unsettled || (state.price.is_unsettled && goal.price === 'put')
  return status !== 'skipped' && isUnsettled && !isContested(state, goal, options.now)
}
