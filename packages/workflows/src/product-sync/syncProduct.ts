// Syncs one product to a provider: record the start, call the provider, record the end. A later sync finishes one that
// crashed or ran beside another.

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

export const syncConcurrency = 8

/** After this many calls in a row without a response, the provider counts as down. */
const maxConsecutiveFailures = 2 * syncConcurrency

/** After this time no further product is started, because a client waits for the response. */
export const syncTimeoutMs = 240_000

/** Rounds per product when concurrent syncs write something different. */
const maxRounds = 5

const contended = 'Other requests keep syncing this product; try again'

export type SyncLimits = {
  /** Why no further call may be made; undefined while calls are allowed. */
  reason(): string | undefined
  /** Record the end of a call. */
  responded(): void
  failed(): void
}

export type SyncContext = {
  readonly provider: Provider
  readonly force: boolean
  readonly updatePrices: boolean
  readonly metadata: EventMetadata
  readonly limits: SyncLimits
  /** Called with the log position of each recorded event. */
  readonly recorded: (position: LogPosition | undefined) => void
}

export type SyncRound = {
  readonly result: ProductResult
  /** The state at the provider is uncertain, because another sync ran at the same time. */
  readonly needsAnotherSync: boolean
}

type Started = Extract<ProductEvent, { type: 'ProductSyncStarted' }>['data']

/** Limits of one sync request. */
export function createSyncLimits(now: () => Date): SyncLimits {
  const endsAt = now().getTime() + syncTimeoutMs
  let failures = 0
  return {
    reason() {
      if (failures >= maxConsecutiveFailures)
        return 'The provider did not respond for other products; this one was not attempted'
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

/**
 * Syncs a product to a provider, unless it is up to date there.
 * @returns the result, also for a failure
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

/** The expected result of a sync, without calling the provider. @throws DomainError `event_store_unavailable` */
export async function dryRunSync(workflow: Workflow, context: SyncContext, product_id: string): Promise<ProductResult> {
  const state = await load(workflow, product_id)
  return dryRunResult(assess({ ...context, noCallReason: undefined }, state), context.provider)
}

async function syncUntilSettled(workflow: Workflow, context: SyncContext, product_id: string): Promise<ProductResult> {
  let round = await syncRound(workflow, context, product_id)
  const { status } = round.result
  for (let rounds = 1; round.needsAnotherSync && rounds < maxRounds; rounds++)
    round = await syncRound(workflow, { ...context, force: false }, product_id)
  const { result, needsAnotherSync: isContended } = round
  if (isContended) return concurrentFailure(workflow, context, product_id, contended)
  // Report the first round's status: a later round may find nothing left to do.
  return result.status === 'failed' ? result : { ...result, status }
}

/** @throws DomainError `concurrent_modification`, `event_store_unavailable` */
async function syncRound(workflow: Workflow, context: SyncContext, product_id: string): Promise<SyncRound> {
  const { provider, limits } = context
  // Evaluated once, so that every assessment in this round gives the same result.
  const assessmentContext = { ...context, noCallReason: limits.reason() }
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
  if (assessment.kind === 'due') throw new Error('the due sync was not started')
  return ended(assessment.result)
}

const ended = (result: ProductResult): SyncRound => ({ result, needsAnotherSync: false })

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

function succeeded(at: ProviderSyncState, price_differs = false): ProductResult {
  return successResult(at.successes === 1 ? 'created' : 'updated', at, { price_differs })
}

/** @param wanted the hashes when the provider was called */
function isOtherPriceKept({ price }: Started, at: ProviderSyncState, wanted: Hashes): boolean {
  const { hash } = at.price
  return price === 'keep' && hash !== undefined && hash !== wanted.price_hash
}

const wantedOf = (product: Product, { catalog }: Provider): Hashes => hashesAt(catalog, catalogProduct(product))

function providerSyncState(product: Product, { id }: Provider): ProviderSyncState {
  const at = product.at_providers[id]
  if (at === undefined) throw new Error(`the product has no sync state at ${id}`)
  return at
}

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
