// What is known of a product at one provider, while several syncs may be at it at the same time.
import type { ProductEvent, ProductSynced } from './events.ts'

type SyncEvent = Extract<ProductEvent, { type: 'ProductSyncStarted' | 'ProductSynced' | 'ProductSyncFailed' }>
type Started = Extract<SyncEvent, { type: 'ProductSyncStarted' }>['data']
type Failed = Extract<SyncEvent, { type: 'ProductSyncFailed' }>['data']

/** Of a product's content and of its price; see the events. */
export type Hashes = Pick<ProductSynced['data'], 'content_hash' | 'price_hash'>

/** What a sync is to leave at the provider. A price that it keeps is nothing of its doing. */
export type SyncGoal = Hashes & Pick<Started, 'price'>

/**
 * A product at one provider, as far as the events tell.
 *
 * A sync is open from its start until its end, or until its calls have no time left to arrive. Of two that are open at the
 * same time with different goals nobody can tell whose call came last: what they put is contested, and their success
 * proves nothing. What is neither contested nor perhaps half done is settled. Content and price are told apart, because
 * a sync may put one and keep the other.
 */
export type ProviderSyncState = {
  /** What the sync that succeeded last has left there; `null` before the first one. */
  readonly synced: ProductSynced['data'] | null
  /** Syncs that succeeded. */
  readonly successes: number
  /** The number of the sync that was started last. */
  readonly last_sync: number
  readonly content: SyncedPart
  readonly price: SyncedPart
  readonly open: readonly OpenSync[]
  readonly price_key: PriceKey
  /** Of the price that was put last, whether it came to be there or not, unless the provider refused it. */
  readonly asked_price_hash: string | null | undefined
}

/** The content or the price. */
type SyncedPart = {
  /** What was there for sure at last: `null` for no price, `undefined` before anything was. */
  readonly hash: string | null | undefined
  /** It may be something else by now. */
  readonly is_unsettled: boolean
}

type OpenSync = SyncGoal & { readonly sync: number; readonly started_at: string; readonly contested: Contested }

type Contested = { readonly content: boolean; readonly price: boolean }

/**
 * What tells one putting of a price from the next, for the provider's idempotency key. The number is the same for calls at
 * the same time and for repeated ones, and another one when a price comes back after another price or after a success.
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
  asked_price_hash: undefined,
}

/**
 * For so long after its start the calls of a sync may reach the provider: those of a process that died, and those that were
 * given up without an answer. A living one that takes longer finds at its end that it was not waited for.
 */
export const lateCallMs = 300_000

/** How a product at a provider goes on. Accepts every event in every state. */
export function evolveSync(at: ProviderSyncState = neverSynced, event: SyncEvent): ProviderSyncState {
  switch (event.type) {
    case 'ProductSyncStarted':
      return started(at, event.data)
    case 'ProductSynced':
      return succeeded(at, event.data)
    case 'ProductSyncFailed':
      return failed(at, event.data)
  }
}

function started(
  at: ProviderSyncState,
  { sync, content_hash, price_hash, price, occurred_at: started_at }: Started,
): ProviderSyncState {
  const goal = { content_hash, price_hash, price }
  const others = stillOpen(at, started_at)
  const contested = others.map((other) => conflict(other, goal)).reduce(either, { content: false, price: false })
  const contestedOthers = others.map((other) => ({
    ...other,
    contested: either(other.contested, conflict(other, goal)),
  }))
  const isOtherPrice = price === 'put' && at.price_key.price_hash !== price_hash
  return {
    ...at,
    last_sync: Math.max(at.last_sync, sync),
    content: unsettled(at.content),
    price: price === 'put' ? unsettled(at.price) : at.price,
    open: [...contestedOthers, { ...goal, sync, started_at, contested }],
    price_key: isOtherPrice ? { number: at.price_key.number + 1, price_hash } : at.price_key,
    asked_price_hash: price === 'put' ? price_hash : at.asked_price_hash,
  }
}

function succeeded(at: ProviderSyncState, data: ProductSynced['data']): ProviderSyncState {
  const mine = openSync(at, data)
  const known = { ...at, synced: data, successes: at.successes + 1, last_sync: Math.max(at.last_sync, data.sync) }
  if (data.mapped_locally)
    return { ...known, content: settled(data.content_hash), price: settled(data.price_hash), open: [] }
  // It took so long that others did not reckon with it any more.
  if (!mine) return { ...known, content: unsettled(at.content), price: unsettled(at.price) }
  const { number, price_hash } = at.price_key
  return {
    ...known,
    content: mine.contested.content ? unsettled(at.content) : settled(mine.content_hash),
    price: priceAfter(at, mine, data),
    open: without(at, mine),
    price_key: mine.price === 'put' ? { number: number + 1, price_hash } : at.price_key,
  }
}

function priceAfter(
  { price }: ProviderSyncState,
  mine: OpenSync,
  { provider_price_id }: ProductSynced['data'],
): SyncedPart {
  if (mine.price === 'put') return mine.contested.price ? unsettled(price) : settled(mine.price_hash)
  // Where the merchant has deleted the product, its price is gone as well.
  const isGone = provider_price_id === null && typeof price.hash === 'string'
  return isGone ? unsettled(unknownSyncedPart) : price
}

const rejectionCodes: ReadonlySet<string> = new Set(['provider_rejected', 'currency_not_supported'])

function failed(at: ProviderSyncState, data: Failed): ProviderSyncState {
  const mine = openSync(at, data)
  const isRejected = mine?.price === 'put' && rejectionCodes.has(data.code)
  return {
    ...at,
    last_sync: Math.max(at.last_sync, data.sync),
    content: unsettled(at.content),
    price: mine?.price === 'keep' ? at.price : unsettled(at.price),
    // Its last call may be carried out later, when another sync has ended.
    open: data.code === 'provider_outcome_unknown' ? at.open : without(at, mine),
    asked_price_hash: isRejected ? undefined : at.asked_price_hash,
  }
}

const settled = (hash: string | null): SyncedPart => ({ hash, is_unsettled: false })
const unsettled = ({ hash }: SyncedPart): SyncedPart => ({ hash, is_unsettled: true })

const openSync = ({ open }: ProviderSyncState, { sync }: { readonly sync: number }) =>
  open.find((one) => one.sync === sync)
const without = ({ open }: ProviderSyncState, mine: OpenSync | undefined) => open.filter((one) => one !== mine)

function stillOpen({ open }: ProviderSyncState, now: string): readonly OpenSync[] {
  return open.filter(({ started_at }) => Date.parse(now) - Date.parse(started_at) < lateCallMs)
}

/** Of what both put, what is different. */
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

/** Whether somebody is at it who puts something else than a sync with this goal would. */
function isContested(at: ProviderSyncState, goal: SyncGoal, now: string): boolean {
  return stillOpen(at, now).some((other) => {
    const { content, price } = conflict(other, goal)
    return content || price
  })
}

// Bringing a product to a provider: what a sync has to do, what it records, and whether another one has to follow.

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
