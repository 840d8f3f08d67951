// Decides whether a product must be synced to a provider: content hashes, the sync plan, and the report's results.
import { createHash } from 'node:crypto'
import type { ProductContent } from '@paylog/domain/products/events'
import type { ProductState } from '@paylog/domain/products/product'
import { type Hashes, type ProviderSyncState, planSync, type SyncPlan } from '@paylog/domain/products/sync'
import type { SyncError, SyncResult } from '@paylog/domain/products/syncReport'
import type { CatalogProduct, ProductCatalog } from '@paylog/providers/productCatalog'
import { type Provider, ProviderError } from '@paylog/providers/provider'
import { toDomainError } from '../providerErrors.ts'

/** A result without the product's id, which is reported as the client wrote it. */
export type ProductResult = Omit<SyncResult, 'product_id'>

export type AssessmentContext = {
  readonly provider: Provider
  readonly force: boolean
  readonly updatePrices: boolean
  /** Why the provider must not be called; see SyncLimits. */
  readonly noCallReason: string | undefined
}

export type Assessment =
  /** No sync is needed or possible. */
  | { readonly kind: 'final'; readonly result: ProductResult }
  | {
      readonly kind: 'due'
      readonly product: CatalogProduct
      readonly at: ProviderSyncState | undefined
      readonly wanted: Hashes
      readonly plan: SyncPlan
    }

const syncErrorCodes = {
  declined: 'provider_rejected',
  rejected: 'provider_rejected',
  currency: 'currency_not_supported',
  unavailable: 'provider_unavailable',
  unknown: 'provider_outcome_unknown',
} as const

/** Plans the sync of a product from its recorded state alone. */
export function assess(context: AssessmentContext, state: ProductState): Assessment {
  const { provider, force, updatePrices, noCallReason } = context
  const { catalog } = provider
  if (state.status === 'none') return final(unknownProduct)
  const at = state.at_providers[provider.id]
  if (!state.is_active)
    return final(
      failedResult(at, {
        code: 'product_inactive',
        message: 'The product is not active; its copy at the provider was not changed',
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
  if (noCallReason !== undefined)
    return final(failedResult(at, { code: 'provider_unavailable', message: noCallReason }))
  return { kind: 'due', product, at, wanted, plan }
}

const final = (result: ProductResult): Assessment => ({ kind: 'final', result })

/** The expected result of a sync, without the values that only the provider has. */
export function dryRunResult(assessment: Assessment, { catalog }: Provider): ProductResult {
  if (assessment.kind === 'final') return assessment.result
  const { at, product, plan } = assessment
  const result = successResult(plan.status, at, plan)
  return catalog === null ? { ...result, provider_product_id: product.product_id, mapped_locally: true } : result
}

export function catalogProduct(product: ProductContent & { readonly product_id: string }): CatalogProduct {
  const { product_id, name, description, product_type, billing_interval: interval, trial_days } = product
  return {
    product_id,
    name,
    description,
    product_type,
    price: {
      amount_cents: product.total_cents,
      currency: product.currency,
      recurring: product.is_recurring && interval !== null ? { interval, trial_days: trial_days ?? 0 } : null,
    },
  }
}

/** Hashes of the content and price to sync. @param catalog `null` for a provider without a catalogue */
export function hashesAt(catalog: ProductCatalog | null, product: CatalogProduct): Hashes {
  const { name, description, product_type, price } = product
  const { amount_cents, currency, recurring } = price
  return {
    content_hash: hashOf([name, description, product_type]),
    price_hash: catalog?.keepsPrice(product)
      ? hashOf([amount_cents, currency, recurring?.interval ?? null, recurring?.trial_days ?? null])
      : null,
  }
}

/** Takes a list rather than an object, whose key order could vary. */
function hashOf(values: readonly (string | number | null)[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex')
}

/** @param at the recorded sync state of the product at the provider */
export function successResult(
  status: Exclude<SyncResult['status'], 'failed'>,
  at: ProviderSyncState | undefined,
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

export function failedResult(at: ProviderSyncState | undefined, error: SyncError): ProductResult {
  return { status: 'failed', ...knownIds(at), error }
}

export const unknownProduct = failedResult(undefined, { code: 'not_found', message: 'No product with this id' })

function knownIds(at: ProviderSyncState | undefined) {
  const { provider_product_id = null, provider_price_id = null } = at?.synced ?? {}
  return { provider_product_id, provider_price_id }
}

/** The message includes the provider's code, so that an administrator can look it up. */
export function syncErrorOf(error: ProviderError): SyncError {
  return { code: syncErrorCodes[error.kind], message: `${toDomainError(error).message} (${error.code})` }
}
