// Bringing one product to a provider: the intention is recorded, the provider is called, and the end is recorded. Whatever
// dies in between, and whoever does it at the same time, the next one finishes.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/messages'
import type { ProductEvent } from '@paylog/domain/products/events'
import { existing, type ProductState, productFold } from '@paylog/domain/products/product'
import { endSync, mapLocally, mustGoOn, startSync } from '@paylog/domain/products/sync'
import type { LogPosition } from '@paylog/event-store/codec'
import type { Handled, Loaded } from '@paylog/event-store/eventStore'
import { productStream } from '@paylog/event-store/streamName'
import { type Provider, ProviderError, type ProviderProduct } from '@paylog/providers/provider'
import type { Workflow } from './context.ts'
import {
  assess,
  atProvider,
  failedResult,
  foreseen,
  type ProductResult,
  resultOf,
  syncErrorOf,
} from './syncAssessment.ts'
import { catalogProduct, heldAt } from './syncHashes.ts'
import type { SyncLimits } from './syncLimits.ts'

export type SyncOrder = {
  readonly provider: Provider
  readonly force: boolean
  readonly dryRun: boolean
  readonly updatePrices: boolean
  readonly metadata: EventMetadata
  readonly limits: SyncLimits
  /** Is told where each recorded event stands in the log. */
  readonly recorded: (position: LogPosition | undefined) => void
}

/** How often a product is gone over because others put something different at the same time. */
const maxRounds = 5

/**
 * Brings a product to a provider, unless it is there already.
 * @returns how it went, failures included
 * @throws DomainError `event_store_unavailable`
 */
export async function syncProduct(workflow: Workflow, order: SyncOrder, product_id: string): Promise<ProductResult> {
  if (order.dryRun) return foresee(workflow, order, product_id)
  try {
    return await inRounds(workflow, order, product_id)
  } catch (error) {
    if (error instanceof DomainError && error.code === 'concurrent_modification') return contested(error.message)
    throw error
  }
}

async function foresee({ store }: Workflow, order: SyncOrder, product_id: string): Promise<ProductResult> {
  const { state } = await store.load<ProductState, ProductEvent>(productStream(product_id), productFold)
  return foreseen(assess({ ...order, noCallsBecause: undefined }, state), order.provider)
}

async function inRounds(workflow: Workflow, order: SyncOrder, product_id: string): Promise<ProductResult> {
  let round = await goOver(workflow, order, product_id)
  const { status } = round.result
  for (let rounds = 1; round.goesOn && rounds < maxRounds; rounds++)
    round = await goOver(workflow, { ...order, force: false }, product_id)
  const { result, goesOn } = round
  if (goesOn) return contested('Others keep changing the product at the provider at the same time; try again')
  // What the first round has done is no less done when the others found nothing to do any more.
  return result.status === 'failed' ? result : { ...result, status }
}

function contested(message: string): ProductResult {
  return failedResult(undefined, { code: 'concurrent_modification', message })
}

type Round = {
  readonly result: ProductResult
  /** Nobody knows what is there, because others were at it as well. */
  readonly goesOn: boolean
}

const ended = (result: ProductResult): Round => ({ result, goesOn: false })

async function goOver(workflow: Workflow, order: SyncOrder, product_id: string): Promise<Round> {
  const { provider, limits } = order
  // Asked once, so that the same is said of what was decided on.
  const question = { ...order, noCallsBecause: limits.reason() }
  const begun = await record(workflow, order, product_id, (state, occurred_at) => {
    const assessment = assess(question, state)
    if (assessment.kind === 'settled') return []
    const { at, wanted, plan } = assessment
    const facts = { product_id, provider_id: provider.id, occurred_at }
    return provider.catalog === null ? mapLocally(facts, wanted, at) : startSync(facts, plan.puts, at)
  })
  const [event] = begun.events
  if (event?.type === 'ProductSyncStarted') return call(workflow, order, event.data, begun)
  if (event !== undefined) return ended(succeeded(order, begun.state))
  const assessment = assess(question, begun.state)
  if (assessment.kind === 'due') throw new Error('A sync that is due was not begun')
  return ended(assessment.result)
}

type Started = Extract<ProductEvent, { type: 'ProductSyncStarted' }>['data']

async function call(
  workflow: Workflow,
  order: SyncOrder,
  started: Started,
  begun: Loaded<ProductState>,
): Promise<Round> {
  const { product_id, provider_id, sync } = started
  const facts = (occurred_at: string) => ({ product_id, provider_id, sync, occurred_at })
  let answer: ProviderProduct
  try {
    answer = await putProduct(order, started, begun.state)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const failure = syncErrorOf(error)
    const { state } = await record(
      workflow,
      order,
      product_id,
      (_state, occurred_at) => [{ type: 'ProductSyncFailed', data: { ...facts(occurred_at), ...failure } }],
      begun,
    )
    return ended(failedResult(atProvider(existing(state), order.provider), failure))
  }
  const { provider_product_id, provider_price_id, kept_fields } = answer
  const told = { provider_product_id, provider_price_id, kept_fields: [...kept_fields] }
  const { state } = await record(
    workflow,
    order,
    product_id,
    (state, occurred_at) => endSync(facts(occurred_at), started, told, atProvider(existing(state), order.provider)),
    begun,
  )
  const price_differs = isOtherPriceKept(order, started, begun.state, state)
  return { result: succeeded(order, state, price_differs), goesOn: isToGoOn(workflow, order, state) }
}

async function putProduct(order: SyncOrder, started: Started, state: ProductState): Promise<ProviderProduct> {
  const { provider, limits } = order
  if (provider.catalog === null) throw new Error(`${provider.id} has no catalogue`)
  const { product_id, price_hash, price } = started
  const { synced, price_turn } = atProvider(existing(state), provider)
  try {
    const answer = await provider.catalog.putProduct({
      idempotency_key: `${product_id}-${price_hash ?? 'none'}-${price_turn.number}`,
      product: catalogProduct(existing(state)),
      price,
      known: synced,
    })
    limits.answered()
    return answer
  } catch (error) {
    const isUnanswered = error instanceof ProviderError && ['unavailable', 'unknown'].includes(error.kind)
    if (isUnanswered) limits.unanswered()
    else limits.answered()
    throw error
  }
}

function succeeded({ provider }: SyncOrder, state: ProductState, price_differs = false): ProductResult {
  const at = atProvider(existing(state), provider)
  return resultOf(at.successes === 1 ? 'created' : 'updated', at, { price_differs })
}

/** @param begun the product as it was when the provider was called */
function isOtherPriceKept(
  { provider }: SyncOrder,
  { price }: Started,
  begun: ProductState,
  state: ProductState,
): boolean {
  const { price_hash } = heldAt(provider.catalog, catalogProduct(existing(begun)))
  const { hash } = atProvider(existing(state), provider).price
  return price === 'keep' && hash !== undefined && hash !== price_hash
}

function isToGoOn({ now }: Workflow, { provider, updatePrices }: SyncOrder, state: ProductState): boolean {
  const product = existing(state)
  const wanted = heldAt(provider.catalog, catalogProduct(product))
  return mustGoOn(atProvider(product, provider), { wanted, updatePrices, now: now().toISOString() })
}

async function record(
  { store, now }: Workflow,
  { metadata, recorded }: SyncOrder,
  product_id: string,
  decide: (state: ProductState, occurred_at: string) => ProductEvent[],
  known?: Loaded<ProductState>,
): Promise<Handled<ProductState, ProductEvent>> {
  const handled = await store.handle<ProductState, ProductEvent>({
    stream: productStream(product_id),
    fold: productFold,
    decide: (state) => decide(state, now().toISOString()),
    metadata,
    ...(known && { known }),
  })
  if (handled.events.length > 0) recorded(handled.position)
  return handled
}
