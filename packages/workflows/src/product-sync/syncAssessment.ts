// What a sync of one product comes to, as far as the product's own events tell.
import type { ProviderSyncState, Hashes } from '@paylog/domain/products/atProvider'
import type { ProductState } from '@paylog/domain/products/product'
import { planSync, type SyncPlan } from '@paylog/domain/products/sync'
import type { CatalogProduct } from '@paylog/providers/productCatalog'
import { type Provider, ProviderError } from '@paylog/providers/provider'
import { catalogProduct, hashesAt } from './syncHashes.ts'
import { failedResult, type ProductResult, successResult, syncErrorOf, unknownProduct } from './syncResults.ts'

export type AssessmentContext = {
  readonly provider: Provider
  readonly force: boolean
  readonly updatePrices: boolean
  /** Why the provider is not to be called; see SyncLimits. */
  readonly noCallsBecause: string | undefined
}

export type Assessment =
  /** Nothing is to be done. */
  | { readonly kind: 'final'; readonly result: ProductResult }
  | {
      readonly kind: 'due'
      readonly product: CatalogProduct
      readonly at: ProviderSyncState | undefined
      readonly wanted: Hashes
      readonly plan: SyncPlan
    }

/** Says the same of the same state however often it is asked. */
export function assess(context: AssessmentContext, state: ProductState): Assessment {
  const { provider, force, updatePrices, noCallsBecause } = context
  const { catalog } = provider
  if (state.status === 'none') return final(unknownProduct)
  const at = state.at_providers[provider.id]
  if (!state.is_active)
    return final(
      failedResult(at, {
        code: 'product_inactive',
        message: 'The product is not active; what the provider has of it stays as it is',
      }),
    )
  const product = catalogProduct(state)
  try {
    catalog?.checkProduct(product)
  } catch (error) {
    if (error instanceof ProviderError) return final(failedResult(at, syncErrorOf(error)))
    throw error
  }
  const wanted = hashesAt(catalog, product)
  const plan = planSync(at, { wanted, force, updatePrices })
  if (plan.status === 'skipped') return final(successResult('skipped', at, plan))
  if (noCallsBecause !== undefined)
    return final(failedResult(at, { code: 'provider_unavailable', message: noCallsBecause }))
  return { kind: 'due', product, at, wanted, plan }
}

/** How a sync would go. What only the provider could tell is missing. */
export function dryRunResult(assessment: Assessment, { catalog }: Provider): ProductResult {
  if (assessment.kind === 'final') return assessment.result
  const { at, product, plan } = assessment
  const result = successResult(plan.status, at, plan)
  return catalog === null ? { ...result, provider_product_id: product.product_id, mapped_locally: true } : result
}

const final = (result: ProductResult): Assessment => ({ kind: 'final', result })
