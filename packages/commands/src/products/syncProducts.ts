// Syncs a list of products to a provider, once per Idempotency-Key. One failing product does not stop the others.

import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import { recordedId } from '@paylog/domain/fields'
import { type FinalResponse, requestInFlightMs } from '@paylog/domain/idempotentRequest'
import type { SyncReport, SyncResult } from '@paylog/domain/products/syncReport'
import pMap, { pMapSkip } from 'p-map'
import { enabledProvider, type Workflow } from '../context.ts'
import { processOnce, type RepeatableRequest } from '../request/idempotentRequests.ts'
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
}

export type RequestSync = RepeatableRequest &
  Omit<SyncProducts, 'provider'> & {
    /** Whose request it is; see `ownerOf`. */
    readonly owner: string
    /** Validates the request and chooses the provider. Not called for a repeated request. */
    readonly providerId: () => string
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
  return { report: reportOf(results), position: run.position }
}

/**
 * Syncs products to a provider, or replays the response for the same Idempotency-Key.
 * @returns `replayed` is true when an earlier request got this response
 * @throws DomainError `provider_not_enabled`, `idempotency_key_reused`, `idempotency_key_in_flight`,
 *   `event_store_unavailable`, and the errors of `providerId`
 */
export async function requestSync(
  workflow: Workflow,
  request: RequestSync,
): Promise<SyncedProducts & { readonly replayed: boolean }> {
  // How long we assume a first request with this many products is still running.
  const inFlightMs = requestInFlightMs + 500 * request.product_ids.length
  const processed = await processOnce(workflow, request, inFlightMs, async () => {
    const provider = enabledProvider(workflow, request.providerId())
    return {
      provider_id: provider.id,
      process: (metadata) => syncProducts(workflow, { ...request, provider, metadata }),
      responseOf: ({ report }): FinalResponse => ({ kind: 'reported', report }),
    }
  })
  const { replayed, position } = processed
  if (!replayed) return { ...processed.outcome, position: position ?? processed.outcome.position, replayed }
  if (processed.response.kind !== 'reported') throw new Error('the response is not a sync report')
  return { report: processed.response.report, position, replayed }
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
