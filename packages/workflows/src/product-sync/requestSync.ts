// A request to bring products to a provider, which is carried out once for each Idempotency-Key.
import {
  type RecordedReport,
  type ProductSyncRequestEvent,
  syncRequestRules,
} from '@paylog/domain/products/syncRequest'
import { productSyncRequestStream } from '@paylog/event-store/streamName'
import type { Workflow } from '../context.ts'
import { idempotentRequests, type RecordedAnswer, type RepeatableRequest } from '../idempotentRequests.ts'
import { enabledProvider } from '../payments/providerCall.ts'
import { type SyncedProducts, type SyncProducts, syncProducts } from './syncProducts.ts'

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
