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
 * A sync is open from its start until its end, or until its calls can no longer arrive. If two open syncs put different
 * values, the order of their calls at the provider is unknown: that part is contested, and their success proves nothing. A
 * part is settled when its value is certain: not contested and not half written. Content and price are separate parts,
 * because a sync always puts the content and may keep the price.
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
  readonly price_key: PriceKey
  /** Hash of the latest price that we tried to put, successfully or not, unless the provider rejected it. */
  readonly requested_price_hash: string | null | undefined
}

type SyncedPart = {
  /** The last certain value: `null` for no price, `undefined` before the first. */
  readonly hash: string | null | undefined
  /** The value may have changed since. */
  readonly is_unsettled: boolean
  /** The open syncs that put this part. */
  readonly puts: readonly Put[]
}

type Put = {
  readonly sync: number
  readonly started_at: string
  readonly hash: string | null
  readonly is_contested: boolean
}

/**
 * Part of the provider's idempotency key for putting a price. Concurrent and repeated calls share a number. It changes when
 * the price changes, even back to an earlier one, and after a success.
 */
type PriceKey = { readonly number: number; readonly price_hash: string | null | undefined }

const unknownPart: SyncedPart = { hash: undefined, is_unsettled: false, puts: [] }
const neverSynced: ProviderSyncState = {
  synced: null,
  successes: 0,
  last_sync: 0,
  content: unknownPart,
  price: unknownPart,
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
  const { sync, occurred_at: started_at, content_hash, price_hash } = data
  const content = put(stillOpen(state.content, started_at), { sync, started_at, hash: content_hash })
  const price = stillOpen(state.price, started_at)
  if (data.price === 'keep') return { ...state, content, price }
  const { price_key } = state
  return {
    ...state,
    content,
    price: put(price, { sync, started_at, hash: price_hash }),
    price_key: price_key.price_hash === price_hash ? price_key : { number: price_key.number + 1, price_hash },
    requested_price_hash: price_hash,
  }
}

function succeeded(state: ProviderSyncState, data: ProductSynced['data']): ProviderSyncState {
  const { content, price, price_key } = state
  const updated = { ...state, synced: data, successes: state.successes + 1 }
  if (data.mapped_locally) return { ...updated, content: settled(data.content_hash), price: settled(data.price_hash) }
  // It took longer than lateCallMs, so other syncs no longer counted it as open.
  if (!isPutBy(content, data)) return { ...updated, content: unsettled(content), price: unsettled(price) }
  if (!isPutBy(price, data)) return { ...updated, content: putEnded(content, data), price: keptPrice(price, data) }
  return {
    ...updated,
    content: putEnded(content, data),
    price: putEnded(price, data),
    price_key: { ...price_key, number: price_key.number + 1 },
  }
}

/** If the merchant deleted the product, its price is gone as well. */
function keptPrice(price: SyncedPart, { provider_price_id }: ProductSynced['data']): SyncedPart {
  const isGone = provider_price_id === null && typeof price.hash === 'string'
  return isGone ? unsettled({ ...price, hash: undefined }) : price
}

const rejectionCodes: ReadonlySet<string> = new Set(['provider_rejected', 'currency_not_supported'])

function failed(state: ProviderSyncState, data: Failed): ProviderSyncState {
  const { content, price } = state
  const isKept = isPutBy(content, data) && !isPutBy(price, data)
  const isRejected = isPutBy(price, data) && rejectionCodes.has(data.code)
  // After an unknown outcome its last call may still take effect, even after another sync has ended.
  const closed = (part: SyncedPart) => (data.code === 'provider_outcome_unknown' ? part : without(part, data))
  return {
    ...state,
    content: unsettled(closed(content)),
    price: isKept ? price : unsettled(closed(price)),
    requested_price_hash: isRejected ? undefined : state.requested_price_hash,
  }
}

type Numbered = { readonly sync: number }

const settled = (hash: string | null): SyncedPart => ({ hash, is_unsettled: false, puts: [] })
const unsettled = (part: SyncedPart): SyncedPart => ({ ...part, is_unsettled: true })
const isPutBy = ({ puts }: SyncedPart, { sync }: Numbered) => puts.some((each) => each.sync === sync)
const without = (part: SyncedPart, { sync }: Numbered) => ({
  ...part,
  puts: part.puts.filter((each) => each.sync !== sync),
})

/** Contests all open puts of other values. */
function put(part: SyncedPart, own: Omit<Put, 'is_contested'>): SyncedPart {
  const differs = ({ hash }: Put) => hash !== own.hash
  const others = part.puts.map((each) => ({ ...each, is_contested: each.is_contested || differs(each) }))
  return unsettled({ ...part, puts: [...others, { ...own, is_contested: part.puts.some(differs) }] })
}

/** The part after a put of it succeeded. */
function putEnded(part: SyncedPart, { sync }: Numbered): SyncedPart {
  const ended = part.puts.find((each) => each.sync === sync)
  const left = without(part, { sync })
  return !ended || ended.is_contested ? unsettled(left) : { ...left, hash: ended.hash, is_unsettled: false }
}

function stillOpen(part: SyncedPart, now: string): SyncedPart {
  const isOpen = ({ started_at }: Put) => Date.parse(now) - Date.parse(started_at) < lateCallMs
  return { ...part, puts: part.puts.filter(isOpen) }
}

/** Whether an open sync puts something other than this goal. */
function isContested({ content, price }: ProviderSyncState, goal: SyncGoal, now: string): boolean {
  const isPutOther = (part: SyncedPart, hash: string | null) =>
    stillOpen(part, now).puts.some((each) => each.hash !== hash)
  return isPutOther(content, goal.content_hash) || (goal.price === 'put' && isPutOther(price, goal.price_hash))
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
  goal: SyncGoal,
  response: Pick<ProductSynced['data'], 'provider_product_id' | 'provider_price_id'> & {
    readonly kept_fields: readonly string[]
  },
  state: ProviderSyncState = neverSynced,
): ProductEvent[] {
  const isPut = goal.price === 'put'
  const { provider_product_id, provider_price_id, kept_fields } = response
  // While it kept the price, another sync may have put one. Only the absence of a price is certain.
  const latest = isPut || provider_price_id === null ? response : (state.synced ?? response)
  const data = {
    ...facts,
    content_hash: goal.content_hash,
    price_hash: isPut ? goal.price_hash : (state.price.hash ?? null),
    provider_product_id,
    provider_price_id: latest.provider_price_id,
    kept_fields: [...kept_fields],
    mapped_locally: false,
  }
  return [{ type: 'ProductSynced', data }]
}

/** Records the sync with a provider that has no catalogue and uses our product id. */
export function mapLocally(facts: SyncFacts, wanted: Hashes, state: ProviderSyncState = neverSynced): ProductEvent[] {
  const ids = { provider_product_id: facts.product_id, provider_price_id: null, kept_fields: [] }
  const data = { ...facts, sync: state.last_sync + 1, ...wanted, ...ids, mapped_locally: true }
  return [{ type: 'ProductSynced', data }]
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
