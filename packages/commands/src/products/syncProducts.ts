// Syncs a list of products to a provider, once per Idempotency-Key. One failing product does not stop the others.

import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import { recordedId } from '@paylog/domain/fields'
import { type FinalResponse, requestInFlightMs } from '@paylog/domain/idempotentRequest'
import type { SyncReport, SyncResult } from '@paylog/domain/products/syncReport'
import pMap, { pMapSkip } from 'p-map'
import type { Workflow } from '../context.ts'
import {
  type EarlierRequest,
  type OwnedRequest,
  processOnce,
  type RecordedResponse,
} from '../request/idempotentRequests.ts'
import { type SyncSettings, unknownProduct } from './syncAssessment.ts'
import { dryRunSync, type SyncRun, syncConcurrency, syncProduct, syncTimeoutMs } from './syncProduct.ts'

export type SyncProducts = SyncSettings & {
  /** As the client wrote them. */
  readonly product_ids: readonly string[]
  /** Only report the expected results. */
  readonly dryRun: boolean
  readonly metadata: EventMetadata
}

export type SyncedProducts = {
  readonly report: SyncReport
  /** Position of the last recorded event, if any. */
  readonly position: LogPosition | undefined
  /** True when an earlier request got this report. */
  readonly replayed: boolean
}

/**
 * Syncs products to a provider. Ids are compared case-insensitively, and each product is synced once. A malformed id counts
 * as unknown.
 * @throws DomainError `event_store_unavailable`: the request may be repeated, and skips products that are already synced
 */
export async function syncProducts(workflow: Workflow, request: SyncProducts): Promise<SyncedProducts> {
  const { product_ids, dryRun, ...options } = request
  const endsAt = workflow.now().getTime() + syncTimeoutMs
  const run: SyncRun = { ...options, workflow, endsAt, failures: 0, position: undefined }
  const sync = dryRun ? dryRunSync : syncProduct
  let failure: { readonly error: unknown } | undefined
  const syncUnlessFailed = async ({ text, id }: RequestedProduct) => {
    if (failure) return pMapSkip
    try {
      return { product_id: text, ...(id === null ? unknownProduct : await sync(run, id)) }
    } catch (error) {
      failure ??= { error }
      return pMapSkip
    }
  }
  const results = await pMap(distinct(product_ids), syncUnlessFailed, { concurrency: syncConcurrency })
  // Only now, so that no work continues after the response.
  if (failure) throw failure.error
  return { report: reportOf(results), position: run.position, replayed: false }
}

/** How long we assume a first request with this many products is still running. */
export const syncInFlightMs = (products: number) => requestInFlightMs + 500 * products

/** The result of an earlier request with the same Idempotency-Key. */
export function replayedSync({ response, position }: RecordedResponse): SyncedProducts {
  if (response.kind !== 'reported') throw new Error('the response is not a sync report')
  return { report: response.report, position, replayed: true }
}

/**
 * Syncs products to a provider, once for each Idempotency-Key.
 * @param earlier without a response
 * @throws DomainError `idempotency_key_reused`, `idempotency_key_in_flight`, `event_store_unavailable`
 */
export async function requestSync(
  workflow: Workflow,
  request: OwnedRequest & SyncProducts,
  earlier: EarlierRequest,
): Promise<SyncedProducts> {
  const processed = await processOnce(workflow, request, earlier, {
    provider_id: request.provider.id,
    process: (metadata) => syncProducts(workflow, { ...request, metadata }),
    responseOf: ({ report }): FinalResponse => ({ kind: 'reported', report }),
  })
  if ('recorded' in processed) return replayedSync(processed.recorded)
  return { ...processed.outcome, position: processed.position ?? processed.outcome.position }
}

type RequestedProduct = { readonly text: string; readonly id: string | null }

/** In the order of their first occurrence. */
function distinct(product_ids: readonly string[]): readonly RequestedProduct[] {
  const byKey = new Map<string, RequestedProduct>()
  for (const text of product_ids) {
    const id = recordedId(text)
    const key = id ?? text
    if (!byKey.has(key)) byKey.set(key, { text, id })
  }
  return [...byKey.values()]
}

function reportOf(results: readonly SyncResult[]): SyncReport {
  const summary = { created: 0, updated: 0, skipped: 0, failed: 0 }
  for (const { status } of results) summary[status]++
  const total = results.length
  return { total, successful: total - summary.failed, failed: summary.failed, results: [...results], summary }
}
