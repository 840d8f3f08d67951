// Bringing products to a provider. One bad product does not stop the others.
import { recordedId } from '@paylog/domain/fields'
import { isAfter, type LogPosition } from '@paylog/domain/logPosition'
import type { EventMetadata } from '@paylog/domain/messages'
import type { SyncReport, SyncResult } from '@paylog/domain/products/syncRequest'
import type { Provider } from '@paylog/providers/provider'
import pMap from 'p-map'
import type { Workflow } from '../context.ts'
import { createSyncLimits, syncConcurrency } from './syncLimits.ts'
import { dryRunSync, syncProduct } from './syncProduct.ts'
import { unknownProduct } from './syncResults.ts'
import type { SyncContext } from './syncRound.ts'

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
