// What a sync of one product comes to, as far as the product's own events tell.
import type { Product, ProductState } from '@paylog/domain/products/product'
import { type AtProvider, type Held, planSync, type SyncPlan } from '@paylog/domain/products/sync'
import type { SyncError, SyncResult } from '@paylog/domain/products/syncRequest'
import { type CatalogProduct, type Provider, ProviderError } from '@paylog/providers/provider'
import { refusalOf } from './providerRefusal.ts'
import { catalogProduct, heldAt } from './syncHashes.ts'

/** The rest of a result is what the client called the product. */
export type ProductResult = Omit<SyncResult, 'product_id'>

export type SyncQuestion = {
  readonly provider: Provider
  readonly force: boolean
  readonly updatePrices: boolean
  /** Why the provider is not to be called; see SyncLimits. */
  readonly noCallsBecause: string | undefined
}

export type Assessment =
  /** Nothing is to be done. */
  | { readonly kind: 'settled'; readonly result: ProductResult }
  | {
      readonly kind: 'due'
      readonly product: CatalogProduct
      readonly at: AtProvider | undefined
      readonly wanted: Held
      readonly plan: SyncPlan
    }

/** Says the same of the same state however often it is asked. */
export function assess(question: SyncQuestion, state: ProductState): Assessment {
  const { provider, force, updatePrices, noCallsBecause } = question
  const { catalog } = provider
  if (state.status === 'none')
    return settled(failedResult(undefined, { code: 'not_found', message: 'No product with this id' }))
  const at = state.at_providers[provider.id]
  if (!state.is_active)
    return settled(failedResult(at, { code: 'product_inactive', message: 'The product is not active' }))
  const product = catalogProduct(state)
  try {
    catalog?.checkProduct(product)
  } catch (error) {
    if (error instanceof ProviderError) return settled(failedResult(at, syncErrorOf(error)))
    throw error
  }
  const wanted = heldAt(catalog, product)
  const plan = planSync(at, { wanted, force, updatePrices })
  if (plan.status === 'skipped') return settled(resultOf('skipped', at, plan))
  if (noCallsBecause !== undefined)
    return settled(failedResult(at, { code: 'provider_unavailable', message: noCallsBecause }))
  return { kind: 'due', product, at, wanted, plan }
}

/** How a sync would go. What only the provider could tell is missing. */
export function foreseen(assessment: Assessment, { catalog }: Provider): ProductResult {
  if (assessment.kind === 'settled') return assessment.result
  const { at, product, plan } = assessment
  const result = resultOf(plan.status, at, plan)
  return catalog === null ? { ...result, provider_product_id: product.product_id, mapped_locally: true } : result
}

const settled = (result: ProductResult): Assessment => ({ kind: 'settled', result })

export function atProvider(product: Product, { id }: Provider): AtProvider {
  const at = product.at_providers[id]
  if (at === undefined) throw new Error(`Nothing is known of the product at ${id}`)
  return at
}

/** A result with what is on record of the product at the provider. */
export function resultOf(
  status: Exclude<SyncResult['status'], 'failed'>,
  at: AtProvider | undefined,
  { price_differs }: Pick<SyncPlan, 'price_differs'>,
): ProductResult {
  const synced = at?.synced ?? null
  return {
    status,
    ...knownIds(at),
    ...(price_differs && { price_differs }),
    ...(synced?.mapped_locally && { mapped_locally: true }),
    ...(synced !== null && synced.kept_fields.length > 0 && { kept_fields: synced.kept_fields }),
  }
}

export function failedResult(at: AtProvider | undefined, error: SyncError): ProductResult {
  return { status: 'failed', ...knownIds(at), error }
}

function knownIds(at: AtProvider | undefined) {
  const { provider_product_id = null, provider_price_id = null } = at?.synced ?? {}
  return { provider_product_id, provider_price_id }
}

const syncErrorCodes = {
  declined: 'provider_rejected',
  rejected: 'provider_rejected',
  currency: 'currency_not_supported',
  unavailable: 'provider_unavailable',
  unknown: 'provider_outcome_unknown',
} as const

export function syncErrorOf(error: ProviderError): SyncError {
  return { code: syncErrorCodes[error.kind], message: refusalOf(error).message }
}
