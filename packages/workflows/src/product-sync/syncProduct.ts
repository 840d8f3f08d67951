// How far a synchronisation goes before it leaves a provider alone.

import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import type { ProductEvent } from '@paylog/domain/products/events'
import { existingProduct, type Product, type ProductState, productFold } from '@paylog/domain/products/product'
import {
  endSync,
  type Hashes,
  mapLocally,
  needsAnotherSync,
  type ProviderSyncState,
  startSync,
} from '@paylog/domain/products/sync'
import type { HandledCommand, LoadedState } from '@paylog/event-store/eventStore'
import { productStream } from '@paylog/event-store/streamName'
import type { ProviderProduct } from '@paylog/providers/productCatalog'
import { type Provider, ProviderError } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import {
  assess,
  catalogProduct,
  dryRunResult,
  failedResult,
  hashesAt,
  type ProductResult,
  successResult,
  syncErrorOf,
} from './syncAssessment.ts'

/** So many products are under way at once. */
export const syncConcurrency = 8

/** So many calls in a row that the provider did not answer, and it is taken to be down. */
const maxConsecutiveFailures = 2 * syncConcurrency

/** After this long no further product is begun: somebody waits for the answer. */
export const syncTimeoutMs = 240_000

export type SyncLimits = {
  /** Why no further call is made; nothing while there is no reason. */
  reason(): string | undefined
  /** How a call ended. */
  responded(): void
  failed(): void
}

/** Of one synchronisation. */
export function createSyncLimits(now: () => Date): SyncLimits {
  const endsAt = now().getTime() + syncTimeoutMs
  let failures = 0
  return {
    reason() {
      if (failures >= maxConsecutiveFailures)
        return 'The provider did not answer for other products; this one was not attempted'
      if (now().getTime() >= endsAt) return 'The other products took too long; this one was not attempted'
      return undefined
    },
    responded() {
      failures = 0
    },
    failed() {
      failures++
    },
  }
}

// Going over one product once: the intention is recorded, the provider is called, and the end is recorded. Whatever dies in
// between, and whoever does it at the same time, the next one finishes.

export type SyncContext = {
  readonly provider: Provider
  readonly force: boolean
  readonly updatePrices: boolean
  readonly metadata: EventMetadata
  readonly limits: SyncLimits
  /** Is told where each recorded event stands in the log. */
  readonly recorded: (position: LogPosition | undefined) => void
}

export type SyncRound = {
  readonly result: ProductResult
  /** Nobody knows what is there, because others were at it as well. */
  readonly needsAnotherSync: boolean
}

const ended = (result: ProductResult): SyncRound => ({ result, needsAnotherSync: false })

/** @throws DomainError `concurrent_modification`, `event_store_unavailable` */
async function syncRound(workflow: Workflow, context: SyncContext, product_id: string): Promise<SyncRound> {
  const { provider, limits } = context
  // Asked once, so that the same is said of what was decided on.
  const assessmentContext = { ...context, noCallsBecause: limits.reason() }
  const begun = await record(workflow, context, product_id, (state, occurred_at) => {
    const assessment = assess(assessmentContext, state)
    if (assessment.kind === 'final') return []
    const { at, wanted, plan } = assessment
    const facts = { product_id, provider_id: provider.id, occurred_at }
    return provider.catalog === null ? mapLocally(facts, wanted, at) : startSync(facts, plan.goal, at)
  })
  const [event] = begun.events
  if (event?.type === 'ProductSyncStarted') return call(workflow, context, event.data, begun)
  if (event !== undefined) return ended(succeeded(providerSyncState(existingProduct(begun.state), provider)))
  const assessment = assess(assessmentContext, begun.state)
  if (assessment.kind === 'due') throw new Error('A sync that is due was not begun')
  return ended(assessment.result)
}

type Started = Extract<ProductEvent, { type: 'ProductSyncStarted' }>['data']

async function call(
  workflow: Workflow,
  context: SyncContext,
  started: Started,
  begun: LoadedState<ProductState>,
): Promise<SyncRound> {
  const { provider, updatePrices } = context
  const { product_id, provider_id, sync } = started
  const facts = (occurred_at: string) => ({ product_id, provider_id, sync, occurred_at })
  const called = existingProduct(begun.state)
  let response: ProviderProduct
  try {
    response = await putProduct(context, started, called)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const failure = syncErrorOf(error)
    const { state } = await record(
      workflow,
      context,
      product_id,
      (_state, occurred_at) => [{ type: 'ProductSyncFailed', data: { ...facts(occurred_at), ...failure } }],
      begun,
    )
    return ended(failedResult(providerSyncState(existingProduct(state), provider), failure))
  }
  const { provider_product_id, provider_price_id, kept_fields } = response
  const reported = { provider_product_id, provider_price_id, kept_fields: [...kept_fields] }
  const { state } = await record(
    workflow,
    context,
    product_id,
    (state, occurred_at) =>
      endSync(facts(occurred_at), started, reported, providerSyncState(existingProduct(state), provider)),
    begun,
  )
  const product = existingProduct(state)
  const at = providerSyncState(product, provider)
  const now = workflow.now().toISOString()
  return {
    result: succeeded(at, isOtherPriceKept(started, at, wantedOf(called, provider))),
    needsAnotherSync: needsAnotherSync(at, { wanted: wantedOf(product, provider), updatePrices, now }),
  }
}

async function putProduct(
  { provider, limits }: SyncContext,
  { product_id, price_hash, price }: Started,
  product: Product,
): Promise<ProviderProduct> {
  if (provider.catalog === null) throw new Error(`${provider.id} has no catalogue`)
  const { synced, price_key } = providerSyncState(product, provider)
  try {
    const response = await provider.catalog.putProduct({
      idempotency_key: `${product_id}-${price_hash ?? 'none'}-${price_key.number}`,
      product: catalogProduct(product),
      price,
      known: synced,
    })
    limits.responded()
    return response
  } catch (error) {
    const hasNoResponse = error instanceof ProviderError && ['unavailable', 'unknown'].includes(error.kind)
    if (hasNoResponse) limits.failed()
    else limits.responded()
    throw error
  }
}

function succeeded(at: ProviderSyncState, price_differs = false): ProductResult {
  return successResult(at.successes === 1 ? 'created' : 'updated', at, { price_differs })
}

/** @param wanted what was to be there when the provider was called */
function isOtherPriceKept({ price }: Started, at: ProviderSyncState, wanted: Hashes): boolean {
  const { hash } = at.price
  return price === 'keep' && hash !== undefined && hash !== wanted.price_hash
}

const wantedOf = (product: Product, { catalog }: Provider): Hashes => hashesAt(catalog, catalogProduct(product))

function providerSyncState(product: Product, { id }: Provider): ProviderSyncState {
  const at = product.at_providers[id]
  if (at === undefined) throw new Error(`Nothing is known of the product at ${id}`)
  return at
}

async function record(
  { store, now }: Workflow,
  { metadata, recorded }: SyncContext,
  product_id: string,
  decide: (state: ProductState, occurred_at: string) => ProductEvent[],
  known?: LoadedState<ProductState>,
): Promise<HandledCommand<ProductState, ProductEvent>> {
  const handled = await store.handle({
    stream: productStream(product_id),
    fold: productFold,
    decide: (state) => decide(state, now().toISOString()),
    metadata,
    ...(known && { known }),
  })
  if (handled.events.length > 0) recorded(handled.position)
  return handled
}

// Bringing one product to a provider, as often as it takes while others do the same, or only foreseeing how that would go.

/** How often a product is gone over because others put something different at the same time. */
const maxRounds = 5

/**
 * Brings a product to a provider, unless it is there already.
 * @returns how it went, failures included
 * @throws DomainError `event_store_unavailable`
 */
export async function syncProduct(
  workflow: Workflow,
  context: SyncContext,
  product_id: string,
): Promise<ProductResult> {
  try {
    return await syncUntilSettled(workflow, context, product_id)
  } catch (error) {
    if (error instanceof DomainError && error.code === 'concurrent_modification')
      return concurrentFailure(workflow, context, product_id, error.message)
    throw error
  }
}

/** How bringing it would go. Nobody is called. @throws DomainError `event_store_unavailable` */
export async function dryRunSync(workflow: Workflow, context: SyncContext, product_id: string): Promise<ProductResult> {
  const state = await load(workflow, product_id)
  return dryRunResult(assess({ ...context, noCallsBecause: undefined }, state), context.provider)
}

async function syncUntilSettled(workflow: Workflow, context: SyncContext, product_id: string): Promise<ProductResult> {
  let round = await syncRound(workflow, context, product_id)
  const { status } = round.result
  for (let rounds = 1; round.needsAnotherSync && rounds < maxRounds; rounds++)
    round = await syncRound(workflow, { ...context, force: false }, product_id)
  const { result, needsAnotherSync: mustGoOn } = round
  if (mustGoOn) return concurrentFailure(workflow, context, product_id, contended)
  // What the first round has done is no less done when the others found nothing to do any more.
  return result.status === 'failed' ? result : { ...result, status }
}

const contended = 'Others keep changing the product at the provider at the same time; try again'

async function concurrentFailure(
  workflow: Workflow,
  { provider }: SyncContext,
  product_id: string,
  message: string,
): Promise<ProductResult> {
  const state = await load(workflow, product_id)
  const at = state.status === 'none' ? undefined : state.at_providers[provider.id]
  return failedResult(at, { code: 'concurrent_modification', message })
}

async function load({ store }: Workflow, product_id: string): Promise<ProductState> {
  const { state } = await store.load(productStream(product_id), productFold)
  return state
}
