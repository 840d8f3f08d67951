// Syncs one product to a provider: record the start, call the provider, record the end. A later sync finishes one that
// crashed.

import { DomainError } from '@paylog/domain/errors'
import { type EventMetadata, isAfter, type LogPosition } from '@paylog/domain/events'
import type { ProductEvent } from '@paylog/domain/products/events'
import { existingProduct, type Product, type ProductState, productFold } from '@paylog/domain/products/product'
import { endSync, mapLocally, type ProviderSyncState, type SyncGoal, startSync } from '@paylog/domain/products/sync'
import type { SyncError } from '@paylog/domain/products/syncReport'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { productStream } from '@paylog/event-store/streamName'
import type { ProductCatalog, ProviderProduct } from '@paylog/providers/productCatalog'
import { type Provider, ProviderError } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { beginOperation, type ProviderOperation } from '../provider-calls/providerOperation.ts'
import {
  assess,
  catalogProduct,
  failedResult,
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

/**
 * Syncs a product to a provider, unless it is up to date there. The recorded start is a lease: until it ends, or its process
 * counts as dead, other syncs of the product do nothing.
 * @returns the result, also for a failure
 * @throws DomainError `event_store_unavailable`
 */
export async function syncProduct(run: SyncRun, product_id: string): Promise<ProductResult> {
  const { workflow, provider, metadata } = run
  const assumed = await load(run, product_id)
  const reason = noCallReason(run)
  const assessed = (state: ProductState) => assess(run, state, workflow.now(), reason)
  let assessment = assessed(assumed.state)
  const begin = (state: ProductState, occurred_at: string): ProductEvent[] => {
    assessment = assessed(state)
    const { due } = assessment
    if (!due) return []
    const facts = { product_id, provider_id: provider.id, occurred_at }
    return provider.catalog === null ? mapLocally(facts, due.wanted, due.at) : startSync(facts, due.goal, due.at)
  }
  try {
    const ended = await beginOperation(workflow, catalogCall(run, product_id), begin, { assumed, metadata })
    if (!ended.hasStarted) return assessment.result
    const { position, result, state } = ended
    if (position && (!run.position || isAfter(position, run.position))) run.position = position
    const at = syncStateAt(provider, state)
    if (result && 'code' in result) return failedResult(at, result)
    const { status = 'updated', goal, price_differs = false } = assessment.due ?? {}
    if (goal?.price !== 'keep' || at.price.hash !== undefined) return successResult(status, at, price_differs)
    // The merchant had deleted the product, so that the price which the sync kept is gone.
    const again = await syncProduct(run, product_id)
    return again.status === 'failed' ? again : { ...again, status }
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'concurrent_modification')) throw error
    return {
      ...assessment.result,
      status: 'failed',
      error: { code: 'concurrent_modification', message: error.message },
    }
  }
}

/** The expected result of a sync, without calling the provider. @throws DomainError `event_store_unavailable` */
export async function dryRunSync(run: SyncRun, product_id: string): Promise<ProductResult> {
  return assess(run, (await load(run, product_id)).state, run.workflow.now()).result
}

function noCallReason({ workflow, failures, endsAt }: SyncRun): string | undefined {
  if (failures >= maxConsecutiveFailures)
    return 'The provider did not respond for other products; this one was not attempted'
  if (workflow.now().getTime() >= endsAt) return 'The other products took too long; this one was not attempted'
  return undefined
}

/** The call of a started sync. Its result says why it failed; undefined without a catalogue, where nothing is called. */
function catalogCall(
  run: SyncRun,
  product_id: string,
): ProviderOperation<ProductState, ProductEvent, ProviderProduct | SyncError | undefined> {
  const { provider } = run
  return {
    stream: productStream(product_id),
    fold: productFold,
    async call(state) {
      const { running } = syncStateAt(provider, state)
      return provider.catalog && running
        ? putProduct(run, provider.catalog, running, existingProduct(state))
        : undefined
    },
    done(result, { state, stateAtCall, occurred_at }) {
      const { running } = syncStateAt(provider, stateAtCall)
      if (!result || !running) return []
      const facts = { product_id, provider_id: provider.id, sync: running.sync, occurred_at }
      if ('code' in result) return [{ type: 'ProductSyncFailed', data: { ...facts, ...result } }]
      return endSync(facts, running, result, syncStateAt(provider, state))
    },
  }
}

/** @returns the provider's response, or why it has none */
async function putProduct(
  run: SyncRun,
  catalog: ProductCatalog,
  { product_id, price_hash, price }: SyncGoal & { readonly product_id: string },
  product: Product,
): Promise<ProviderProduct | SyncError> {
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

function syncStateAt({ id }: Provider, state: ProductState): ProviderSyncState {
  const at = existingProduct(state).at_providers[id]
  if (at === undefined) throw new Error(`the product has no sync state at ${id}`)
  return at
}

function load({ workflow: { store } }: SyncRun, product_id: string): Promise<LoadedState<ProductState>> {
  return store.load(productStream(product_id), productFold)
}
