// Going over one product once: the intention is recorded, the provider is called, and the end is recorded. Whatever dies in
// between, and whoever does it at the same time, the next one finishes.
import type { LogPosition } from '@paylog/domain/logPosition'
import type { EventMetadata } from '@paylog/domain/messages'
import type { ProviderSyncState, Hashes } from '@paylog/domain/products/atProvider'
import type { ProductEvent } from '@paylog/domain/products/events'
import { existingProduct, type Product, type ProductState, productFold } from '@paylog/domain/products/product'
import { endSync, mapLocally, needsAnotherSync, startSync } from '@paylog/domain/products/sync'
import type { HandledCommand, LoadedState } from '@paylog/event-store/eventStore'
import { productStream } from '@paylog/event-store/streamName'
import type { ProviderProduct } from '@paylog/providers/productCatalog'
import { type Provider, ProviderError } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { assess } from './syncAssessment.ts'
import { catalogProduct, hashesAt } from './syncHashes.ts'
import type { SyncLimits } from './syncLimits.ts'
import { failedResult, type ProductResult, successResult, syncErrorOf } from './syncResults.ts'

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
export async function syncRound(workflow: Workflow, context: SyncContext, product_id: string): Promise<SyncRound> {
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
    mustGoOn: needsAnotherSync(at, { wanted: wantedOf(product, provider), updatePrices, now }),
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
