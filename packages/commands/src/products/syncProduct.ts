// Syncs one product to a provider: record the start, call the provider, record the end. A later sync finishes one that
// crashed or ran beside another.

import { DomainError } from '@paylog/domain/errors'
import { type EventMetadata, isAfter, type LogPosition } from '@paylog/domain/events'
import type { ProductEvent } from '@paylog/domain/products/events'
import { existingProduct, type Product, type ProductState, productFold } from '@paylog/domain/products/product'
import { endSync, mapLocally, needsAnotherSync, type ProviderSyncState, startSync } from '@paylog/domain/products/sync'
import type { SyncError } from '@paylog/domain/products/syncReport'
import type { HandledCommand, LoadedState } from '@paylog/event-store/eventStore'
import { productStream } from '@paylog/event-store/streamName'
import type { ProviderProduct } from '@paylog/providers/productCatalog'
import { type Provider, ProviderError } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import {
  assess,
  catalogProduct,
  failedResult,
  hashesAt,
  type ProductResult,
  type SyncSettings,
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

/** A running sync request. Its products share it. */
export type SyncRun = SyncSettings & {
  readonly workflow: Workflow
  readonly metadata: EventMetadata
  /** In milliseconds; see syncTimeoutMs. */
  readonly endsAt: number
  /** Calls in a row without a response. */
  failures: number
  /** Position of the last recorded event, if any. */
  position: LogPosition | undefined
}

type SyncRound = {
  readonly result: ProductResult
  /** The state at the provider is uncertain, because another sync ran at the same time. */
  readonly isContended: boolean
}

type Started = Extract<ProductEvent, { type: 'ProductSyncStarted' }>['data']

/**
 * Syncs a product to a provider, unless it is up to date there.
 * @returns the result, also for a failure
 * @throws DomainError `event_store_unavailable`
 */
export async function syncProduct(run: SyncRun, product_id: string): Promise<ProductResult> {
  try {
    return await syncUntilSettled(run, product_id)
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'concurrent_modification')) throw error
    const state = await load(run, product_id)
    const at = state.status === 'none' ? undefined : state.at_providers[run.provider.id]
    return failedResult(at, { code: 'concurrent_modification', message: error.message })
  }
}

/** The expected result of a sync, without calling the provider. @throws DomainError `event_store_unavailable` */
export async function dryRunSync(run: SyncRun, product_id: string): Promise<ProductResult> {
  return assess(run, await load(run, product_id)).result
}

/** @throws DomainError `concurrent_modification`, `event_store_unavailable` */
async function syncUntilSettled(run: SyncRun, product_id: string): Promise<ProductResult> {
  let round = await syncRound(run, product_id)
  const { status } = round.result
  for (let rounds = 1; round.isContended && rounds < maxRounds; rounds++)
    round = await syncRound(run, product_id, { ...run, force: false })
  const { result, isContended } = round
  if (isContended)
    throw new DomainError('concurrent_modification', 'Other requests keep syncing this product; try again')
  // Report the first round's status: a later round may find nothing left to do.
  return result.status === 'failed' ? result : { ...result, status }
}

async function syncRound(run: SyncRun, product_id: string, settings: SyncSettings = run): Promise<SyncRound> {
  const { provider } = run
  // Evaluated once, so that every assessment in this round gives the same result.
  const reason = noCallReason(run)
  const assessed = (state: ProductState) => assess(settings, state, reason)
  const started = await record(run, product_id, (state, occurred_at) => {
    const { due } = assessed(state)
    if (!due) return []
    const facts = { product_id, provider_id: provider.id, occurred_at }
    return provider.catalog === null ? mapLocally(facts, due.wanted, due.at) : startSync(facts, due.goal, due.at)
  })
  const [event] = started.events
  if (event?.type === 'ProductSyncStarted') return callCatalog(run, event.data, started)
  const result = event ? succeeded(syncStateAt(provider, started.state)) : assessed(started.state).result
  return { result, isContended: false }
}

function noCallReason({ workflow, failures, endsAt }: SyncRun): string | undefined {
  if (failures >= maxConsecutiveFailures)
    return 'The provider did not respond for other products; this one was not attempted'
  if (workflow.now().getTime() >= endsAt) return 'The other products took too long; this one was not attempted'
  return undefined
}

async function callCatalog(run: SyncRun, started: Started, recorded: LoadedState<ProductState>): Promise<SyncRound> {
  const { provider, updatePrices, workflow } = run
  const { product_id, provider_id, sync } = started
  const called = existingProduct(recorded.state)
  const outcome = await putProduct(run, started, called)
  const end = (state: ProductState, occurred_at: string): ProductEvent[] => {
    const facts = { product_id, provider_id, sync, occurred_at }
    if ('code' in outcome) return [{ type: 'ProductSyncFailed', data: { ...facts, ...outcome } }]
    return endSync(facts, started, outcome, syncStateAt(provider, state))
  }
  const { state } = await record(run, product_id, end, recorded)
  const at = syncStateAt(provider, state)
  if ('code' in outcome) return { result: failedResult(at, outcome), isContended: false }
  const wantedOf = (product: Product) => hashesAt(provider.catalog, catalogProduct(product))
  const { hash } = at.price
  const isOtherPriceKept = started.price === 'keep' && hash !== undefined && hash !== wantedOf(called).price_hash
  const wanted = wantedOf(existingProduct(state))
  return {
    result: succeeded(at, isOtherPriceKept),
    isContended: needsAnotherSync(at, { wanted, updatePrices, now: workflow.now().toISOString() }),
  }
}

/** @returns the provider's response, or why it has none */
async function putProduct(run: SyncRun, started: Started, product: Product): Promise<ProviderProduct | SyncError> {
  const { catalog, id } = run.provider
  if (catalog === null) throw new Error(`${id} has no catalogue`)
  const { product_id, price_hash, price } = started
  const { synced, price_key } = syncStateAt(run.provider, product)
  const idempotency_key = `${product_id}-${price_hash ?? 'none'}-${price_key.number}`
  try {
    const request = { idempotency_key, product: catalogProduct(product), price, known: synced }
    const response = await catalog.putProduct(request)
    run.failures = 0
    return response
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    run.failures = ['unavailable', 'unknown'].includes(error.kind) ? run.failures + 1 : 0
    return syncErrorOf(error)
  }
}

async function record(
  run: SyncRun,
  product_id: string,
  decide: (state: ProductState, occurred_at: string) => ProductEvent[],
  assumed?: LoadedState<ProductState>,
): Promise<HandledCommand<ProductState, ProductEvent>> {
  const { store, now } = run.workflow
  const handled = await store.handle({
    stream: productStream(product_id),
    fold: productFold,
    decide: (state) => decide(state, now().toISOString()),
    metadata: run.metadata,
    ...(assumed && { assumed }),
  })
  const { events, position } = handled
  if (events.length > 0 && position && (!run.position || isAfter(position, run.position))) run.position = position
  return handled
}

function succeeded(at: ProviderSyncState, price_differs = false): ProductResult {
  return successResult(at.successes === 1 ? 'created' : 'updated', at, price_differs)
}

function syncStateAt({ id }: Provider, state: ProductState): ProviderSyncState {
  const at = existingProduct(state).at_providers[id]
  if (at === undefined) throw new Error(`the product has no sync state at ${id}`)
  return at
}

async function load({ workflow: { store } }: SyncRun, product_id: string): Promise<ProductState> {
  const { state } = await store.load(productStream(product_id), productFold)
  return state
}
