// Decides whether a product must be synced to a provider: content hashes, the sync plan, and the report's results.
import { createHash } from 'node:crypto'
import type { ProductContent } from '@paylog/domain/products/events'
import type { ProductState } from '@paylog/domain/products/product'
import { type Hashes, isSyncing, type ProviderSyncState, planSync, type SyncPlan } from '@paylog/domain/products/sync'
import type { SyncError, SyncResult } from '@paylog/domain/products/syncReport'
import type { CatalogProduct, ProductCatalog } from '@paylog/providers/productCatalog'
import { type Provider, ProviderError } from '@paylog/providers/provider'
import { providerErrorCodes, toDomainError } from '../provider-calls/providerErrors.ts'

/** A result without the product's id, which is reported as the client wrote it. */
export type ProductResult = Omit<SyncResult, 'product_id'>

export type SyncSettings = {
  readonly provider: Provider
  /** Sync unchanged products too. */
  readonly force: boolean
  /** Replace a price at the provider that differs. */
  readonly updatePrices: boolean
}

export type Assessment = {
  /** For a due sync the expected result, without the values that only the provider has. */
  readonly result: ProductResult
  /** Absent when no sync is needed or possible. */
  readonly due?: SyncPlan & { readonly at: ProviderSyncState | undefined; readonly wanted: Hashes }
}

const syncErrorCodes = {
  ...providerErrorCodes,
  declined: 'provider_rejected',
  unknown: 'provider_outcome_unknown',
} as const

/**
 * Plans the sync of a product from its recorded state alone.
 * @param noCallReason why the provider must not be called, if so
 */
export function assess(
  { provider: { id, catalog }, force, updatePrices }: SyncSettings,
  state: ProductState,
  now: Date,
  noCallReason?: string,
): Assessment {
  if (state.status === 'none') return { result: unknownProduct }
  const at = state.at_providers[id]
  const failed = (code: SyncError['code'], message: string) => ({ result: failedResult(at, { code, message }) })
  if (!state.is_active)
    return failed('product_inactive', 'The product is not active; its copy at the provider was not changed')
  const product = catalogProduct(state)
  try {
    catalog?.checkProduct(product)
  } catch (error) {
    if (error instanceof ProviderError) return { result: failedResult(at, syncErrorOf(error)) }
    throw error
  }
  const wanted = hashesAt(catalog, product)
  const plan = planSync(at, { wanted, force, updatePrices })
  const result = successResult(plan.status, at, plan.price_differs)
  if (plan.status === 'skipped') return { result }
  if (isSyncing(at, now)) return failed('sync_in_progress', 'Another request is syncing this product; try again later')
  if (noCallReason !== undefined) return failed('provider_unavailable', noCallReason)
  const mapped = catalog === null && { provider_product_id: state.product_id, mapped_locally: true as const }
  return { result: { ...result, ...mapped }, due: { ...plan, at, wanted } }
}

export function catalogProduct(product: ProductContent & { readonly product_id: string }): CatalogProduct {
  const { product_id, name, description, product_type, currency, billing_interval: interval, trial_days } = product
  const recurring = interval === null ? null : { interval, trial_days: trial_days ?? 0 }
  const price = { amount_cents: product.total_cents, currency, recurring }
  return { product_id, name, description, product_type, price }
}

/** Hashes of the content and price to sync. @param catalog `null` for a provider without a catalogue */
export function hashesAt(catalog: ProductCatalog | null, product: CatalogProduct): Hashes {
  const { name, description, product_type, price } = product
  const { interval = null, trial_days = null } = price.recurring ?? {}
  const price_hash = hashOf([price.amount_cents, price.currency, interval, trial_days])
  return {
    content_hash: hashOf([name, description, product_type]),
    price_hash: catalog?.keepsPrice(product) ? price_hash : null,
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
  price_differs: boolean,
): ProductResult {
  const { mapped_locally, kept_fields = [] } = at?.synced ?? {}
  return {
    status,
    ...knownIds(at),
    ...(price_differs && { price_differs }),
    ...(mapped_locally && { mapped_locally }),
    ...(kept_fields.length > 0 && { kept_fields }),
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
