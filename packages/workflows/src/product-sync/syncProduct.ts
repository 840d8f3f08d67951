// Bringing one product to a provider, as often as it takes while others do the same, or only foreseeing how that would go.
import { DomainError } from '@paylog/domain/errors'
import { type ProductState, productFold } from '@paylog/domain/products/product'
import { productStream } from '@paylog/event-store/streamName'
import type { Workflow } from '../context.ts'
import { assess, dryRunResult } from './syncAssessment.ts'
import { failedResult, type ProductResult } from './syncResults.ts'
import { type SyncContext, syncRound } from './syncRound.ts'

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
  for (let rounds = 1; round.mustGoOn && rounds < maxRounds; rounds++)
    round = await syncRound(workflow, { ...context, force: false }, product_id)
  const { result, mustGoOn } = round
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
