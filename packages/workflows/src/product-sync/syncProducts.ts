// Bringing products to a provider. One bad product does not stop the others.

import { type EventMetadata, isAfter, type LogPosition } from '@paylog/domain/events'
import { recordedId } from '@paylog/domain/fields'
import {
  type ProductSyncRequestEvent,
  type RecordedReport,
  type SyncReport,
  type SyncResult,
  syncRequestRules,
} from '@paylog/domain/products/syncRequest'
import { productSyncRequestStream } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import pMap from 'p-map'
import type { Workflow } from '../context.ts'
import { idempotentRequests, type RecordedAnswer, type RepeatableRequest } from '../idempotentRequests.ts'
import { enabledProvider } from '../payments/providerCall.ts'
import { unknownProduct } from './syncAssessment.ts'
import { createSyncLimits, dryRunSync, type SyncContext, syncConcurrency, syncProduct } from './syncProduct.ts'

export type SyncProducts = {
  /** As the client wrote them. */
  readonly product_ids: readonly string[]
  readonly provider: Provider
  /** Also what has not changed. */
  readonly force: boolean
  /** Only says what would happen. */
  readonly dryRun: boolean
  /** Whether another price takes the place of the one that is there. */
  readonly updatePrices: boolean
  readonly metadata: EventMetadata
}

export type SyncedProducts = {
  readonly report: SyncReport
  /** Of the last event that was recorded, if any was. */
  readonly position: LogPosition | undefined
}

/**
 * Brings products to a provider. A list that names a product more than once, in whatever case, means it once; what is no id
 * is an unknown one.
 * @throws DomainError `event_store_unavailable`: the same may be asked again, and what was done is found done
 */
export async function syncProducts(workflow: Workflow, request: SyncProducts): Promise<SyncedProducts> {
  const { product_ids, dryRun, ...options } = request
  let position: LogPosition | undefined
  const context: SyncContext = {
    ...options,
    limits: createSyncLimits(workflow.now),
    recorded(at) {
      if (at && (position === undefined || isAfter(at, position))) position = at
    },
  }
  const sync = dryRun ? dryRunSync : syncProduct
  const results = await eachUntilFailure(distinct(product_ids), async ({ text, id }) => ({
    product_id: text,
    ...(id === null ? unknownProduct : await sync(workflow, context, id)),
  }))
  return { report: reportOf(results), position }
}

type RequestedProduct = { readonly text: string; readonly id: string | null }

/** In the order in which they are named first. */
function distinct(product_ids: readonly string[]): readonly RequestedProduct[] {
  const named = new Map<string, RequestedProduct>()
  for (const text of product_ids) {
    const id = recordedId(text)
    const key = id ?? text
    if (!named.has(key)) named.set(key, { text, id })
  }
  return [...named.values()]
}

/** Ends what is under way before it throws, so that nothing goes on behind the answer. */
async function eachUntilFailure<Item, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  let failure: { readonly error: unknown } | undefined
  const results = await pMap(
    items,
    async (item) => {
      if (failure) return []
      try {
        return [await act(item)]
      } catch (error) {
        failure ??= { error }
        return []
      }
    },
    { concurrency: syncConcurrency },
  )
  if (failure) throw failure.error
  return results.flat()
}

function reportOf(results: readonly SyncResult[]): SyncReport {
  const count = (status: SyncResult['status']) => results.filter((result) => result.status === status).length
  const summary = {
    created: count('created'),
    updated: count('updated'),
    skipped: count('skipped'),
    failed: count('failed'),
  }
  const total = results.length
  return { total, successful: total - summary.failed, failed: summary.failed, results: [...results], summary }
}

// A request to bring products to a provider, which is carried out once for each Idempotency-Key.

export type RequestSync = RepeatableRequest &
  Omit<SyncProducts, 'provider'> & {
    /** Chooses the provider for the first request; throws what is wrong with it. A repeated one is judged by its record. */
    readonly providerId: () => string
  }

/** The more products, the longer the first request may be at it. */
const inFlightMs = (products: number) => 20_000 + 500 * products

/**
 * Brings products to a provider, or finds what the same Idempotency-Key was answered.
 * @returns `replayed` when an earlier request was answered with this
 * @throws DomainError `provider_not_enabled`, `idempotency_key_reused`, `idempotency_key_in_flight`,
 *   `event_store_unavailable`, and what `providerId` throws
 */
export async function requestSync(
  workflow: Workflow,
  request: RequestSync,
): Promise<SyncedProducts & { readonly replayed: boolean }> {
  const requests = idempotentRequests<RecordedReport, ProductSyncRequestEvent>({
    rules: syncRequestRules,
    stream: productSyncRequestStream,
    inFlightMs: inFlightMs(request.product_ids.length),
  })
  const earlier = await requests.earlier(workflow, request)
  if (earlier !== null) return replayed(earlier)
  const provider = enabledProvider(workflow, request.providerId())
  const concurrent = await requests.begin(workflow, request, provider.id)
  if (concurrent !== null) return replayed(concurrent)
  let synced: SyncedProducts
  try {
    synced = await syncProducts(workflow, { ...request, provider })
  } catch (error) {
    // The reason may keep this from being recorded as well. Then the key is free when nobody can be at it any more.
    await requests.end(workflow, request, { kind: 'failed' }).catch(() => undefined)
    throw error
  }
  const recorded = await requests.end(workflow, request, { kind: 'reported', report: synced.report })
  // Of two that were at it, the one that took too long tells what the other one was answered.
  return recorded === null ? { ...synced, replayed: false } : { ...replayed(recorded), replayed: recorded.isEarlier }
}

function replayed({ answer, position }: RecordedAnswer<RecordedReport>) {
  return { report: answer.report, position, replayed: true }
}
