// Bringing a product to a provider: what is known of it there while several do it at once, and what is to be done next.
import type { ProductEvent, ProductSynced } from './events.ts'

type SyncEvent = Extract<ProductEvent, { type: 'ProductSyncStarted' | 'ProductSynced' | 'ProductSyncFailed' }>
type Started = Extract<SyncEvent, { type: 'ProductSyncStarted' }>['data']
type SyncFailure = Extract<SyncEvent, { type: 'ProductSyncFailed' }>['data']

/** Hashes of a product's content and of its price; see the events. */
export type Held = Pick<ProductSynced['data'], 'content_hash' | 'price_hash'>

/** What a sync puts at the provider. A price that is kept is nothing of its doing. */
export type Puts = Held & Pick<Started, 'price'>

/** The content or the price of a product at a provider. */
export type Part = {
  /** What was there for sure at last: `null` for no price, `undefined` before anything was. */
  readonly hash: string | null | undefined
  /**
   * A sync was started that puts it and did not succeed, or several put something different at the same time. It may be
   * something else by now.
   */
  readonly is_unsettled: boolean
}

/** A sync that may still do something at the provider. */
type OpenSync = Puts & {
  readonly sync: number
  readonly started_at: string
  /** Another one that was open at the same time puts another content, or another price. */
  readonly contested: { readonly content: boolean; readonly price: boolean }
}

/** A product at one provider. */
export type AtProvider = {
  /** What the sync that succeeded last has left there; `null` before the first one. */
  readonly synced: ProductSynced['data'] | null
  /** Syncs that succeeded. */
  readonly successes: number
  /** The number of the sync that was started last. */
  readonly last_sync: number
  readonly content: Part
  readonly price: Part
  readonly open: readonly OpenSync[]
  readonly price_turn: PriceTurn
}

/**
 * Tells the times apart that a price is put: the same for calls at the same time and for repeated ones, another one when
 * a price comes back after another price or after a success.
 */
type PriceTurn = { readonly number: number; readonly price_hash: string | null | undefined }

const unknownPart: Part = { hash: undefined, is_unsettled: false }
const nothingKnown: AtProvider = {
  synced: null,
  successes: 0,
  last_sync: 0,
  content: unknownPart,
  price: unknownPart,
  open: [],
  price_turn: { number: 0, price_hash: undefined },
}

/**
 * For so long after its start the calls of a sync may reach the provider: those of a process that died, and those that were
 * given up without an answer. A living one that takes longer finds at its end that it was not waited for.
 */
export const lateMs = 300_000

/** How a product at a provider goes on. Accepts every event in every state. */
export function syncEvolved(at: AtProvider = nothingKnown, event: SyncEvent): AtProvider {
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
  at: AtProvider,
  { sync, content_hash, price_hash, price, occurred_at: started_at }: Started,
): AtProvider {
  const puts = { content_hash, price_hash, price }
  const still = stillOpen(at, started_at)
  const rivalry = still.map((other) => ({ other, contests: differences(other, puts) }))
  const mine: OpenSync = {
    ...puts,
    sync,
    started_at,
    contested: {
      content: rivalry.some(({ contests }) => contests.content),
      price: rivalry.some(({ contests }) => contests.price),
    },
  }
  const others = rivalry.map(({ other, contests }) => ({ ...other, contested: either(other.contested, contests) }))
  const isOtherPrice = price === 'put' && at.price_turn.price_hash !== price_hash
  return {
    ...at,
    last_sync: Math.max(at.last_sync, sync),
    content: unsettled(at.content),
    price: price === 'put' ? unsettled(at.price) : at.price,
    open: [...others, mine],
    price_turn: isOtherPrice ? { number: at.price_turn.number + 1, price_hash } : at.price_turn,
  }
}

/** What is there is known when nobody can have put anything else at the same time. */
function succeeded(at: AtProvider, data: ProductSynced['data']): AtProvider {
  const mine = at.open.find(({ sync }) => sync === data.sync)
  const known = { ...at, synced: data, successes: at.successes + 1, last_sync: Math.max(at.last_sync, data.sync) }
  if (data.mapped_locally)
    return { ...known, content: settled(data.content_hash), price: settled(data.price_hash), open: [] }
  // It took so long that others did not reckon with it any more.
  if (!mine) return { ...known, content: unsettled(at.content), price: unsettled(at.price) }
  const isPut = mine.price === 'put'
  return {
    ...known,
    content: mine.contested.content ? unsettled(at.content) : settled(mine.content_hash),
    price: isPut ? (mine.contested.price ? unsettled(at.price) : settled(mine.price_hash)) : keptPrice(at, data),
    open: at.open.filter((other) => other !== mine),
    price_turn: isPut ? { ...at.price_turn, number: at.price_turn.number + 1 } : at.price_turn,
  }
}

/** Where the merchant has deleted the product, its price is gone as well. */
function keptPrice({ price }: AtProvider, { provider_price_id }: ProductSynced['data']): Part {
  const isGone = provider_price_id === null && typeof price.hash === 'string'
  return isGone ? unsettled(unknownPart) : price
}

function failed(at: AtProvider, { sync, code }: SyncFailure): AtProvider {
  const mine = at.open.find((other) => other.sync === sync)
  return {
    ...at,
    last_sync: Math.max(at.last_sync, sync),
    content: unsettled(at.content),
    price: mine?.price === 'keep' ? at.price : unsettled(at.price),
    // Its last call may be carried out later, when another sync has ended.
    open: code === 'provider_outcome_unknown' ? at.open : at.open.filter((other) => other !== mine),
  }
}

const settled = (hash: string | null): Part => ({ hash, is_unsettled: false })
const unsettled = ({ hash }: Part): Part => ({ hash, is_unsettled: true })

function stillOpen({ open }: AtProvider, now: string): readonly OpenSync[] {
  return open.filter(({ started_at }) => Date.parse(now) - Date.parse(started_at) < lateMs)
}

function differences(one: Puts, other: Puts): OpenSync['contested'] {
  return {
    content: one.content_hash !== other.content_hash,
    price: one.price === 'put' && other.price === 'put' && one.price_hash !== other.price_hash,
  }
}

const either = (one: OpenSync['contested'], other: OpenSync['contested']) => ({
  content: one.content || other.content,
  price: one.price || other.price,
})

export type SyncWish = {
  /** What the provider would hold of the product as it is. */
  readonly wanted: Held
  /** Also when nothing has changed. */
  readonly force: boolean
  readonly updatePrices: boolean
}

export type SyncPlan = {
  readonly status: 'created' | 'updated' | 'skipped'
  readonly puts: Puts
  /** The provider has another price, and keeps it. */
  readonly price_differs: boolean
}

/**
 * What a sync has to do. A price is replaced only when that is asked for; one that is the product's, as far as anybody
 * knows, is put again to be sure. Without knowing what is there nothing is skipped but such a price.
 * @param at what is known of the product at the provider, if anything is
 */
export function planSync(at: AtProvider = nothingKnown, { wanted, force, updatePrices }: SyncWish): SyncPlan {
  const { synced, content, price } = at
  if (synced === null) return { status: 'created', puts: { ...wanted, price: 'put' }, price_differs: false }
  const isOtherPrice = price.hash !== undefined && price.hash !== wanted.price_hash
  const isPut = isOtherPrice ? updatePrices : force || price.is_unsettled
  const isStale = force || content.is_unsettled || content.hash !== wanted.content_hash
  return {
    status: isStale || isPut ? 'updated' : 'skipped',
    puts: isPut ? { ...wanted, price: 'put' } : { ...wanted, price_hash: price.hash ?? null, price: 'keep' },
    price_differs: isOtherPrice && !isPut,
  }
}

/** Which product a sync is about, and where. */
export type SyncFacts = { readonly product_id: string; readonly provider_id: string; readonly occurred_at: string }

/** Whoever records it calls the provider. @param puts what is planned */
export function startSync(facts: SyncFacts, puts: Puts, at: AtProvider = nothingKnown): ProductEvent[] {
  return [{ type: 'ProductSyncStarted', data: { ...facts, sync: at.last_sync + 1, ...puts } }]
}

/** What the provider answered. */
export type SyncAnswer = Pick<ProductSynced['data'], 'provider_product_id' | 'provider_price_id' | 'kept_fields'>

/** @param puts what the sync of that number has put */
export function endSync(
  facts: SyncFacts & { readonly sync: number },
  puts: Puts,
  answer: SyncAnswer,
  at: AtProvider = nothingKnown,
): ProductEvent[] {
  const { content_hash } = puts
  const left = { ...facts, content_hash, ...answer, mapped_locally: false }
  if (puts.price === 'put') return [{ type: 'ProductSynced', data: { ...left, price_hash: puts.price_hash } }]
  // Another one may have put a price meanwhile. Only its absence is something that this one has seen.
  const { provider_price_id } = answer.provider_price_id === null ? answer : (at.synced ?? answer)
  return [{ type: 'ProductSynced', data: { ...left, price_hash: at.price.hash ?? null, provider_price_id } }]
}

/** A provider without a catalogue: our own id stands for the product there. */
export function mapLocally(facts: SyncFacts, wanted: Held, at: AtProvider = nothingKnown): ProductEvent[] {
  const { product_id: provider_product_id } = facts
  const ids = { provider_product_id, provider_price_id: null, kept_fields: [] }
  const sync = at.last_sync + 1
  return [{ type: 'ProductSynced', data: { ...facts, sync, ...wanted, ...ids, mapped_locally: true } }]
}

/**
 * Whether a sync that has just succeeded is to be followed by another one: several have put different things, nobody knows
 * whose call came last, and no other of them is left to see to it.
 */
export function mustGoOn(at: AtProvider, wish: Omit<SyncWish, 'force'> & { readonly now: string }): boolean {
  const { status, puts } = planSync(at, { ...wish, force: false })
  const isUnsettled = at.content.is_unsettled || (at.price.is_unsettled && puts.price === 'put')
  return status !== 'skipped' && isUnsettled && !isContested(at, puts, wish.now)
}

function isContested(at: AtProvider, puts: Puts, now: string): boolean {
  return stillOpen(at, now).some((other) => {
    const { content, price } = differences(other, puts)
    return content || price
  })
}
