// The product catalogue of a provider: products and their prices.
import type { BillingInterval, ProductType } from '@paylog/domain/products/events'

/** Every call may be repeated. */
export type ProductCatalog = {
  /** Whether the provider stores a price for this product. */
  keepsPrice(product: CatalogProduct): boolean
  /**
   * Checks, without a call, whether the provider can accept the product.
   * @throws ProviderError `rejected`, `currency`
   */
  checkProduct(product: CatalogProduct): void
  /**
   * Creates or updates the product and makes its price the only active one of ours. It first reads the provider's
   * state, so it creates no duplicates when repeated with any key, after any outcome, or in parallel. The provider's
   * time limit applies to each of the HTTP calls, and the rate limit may delay them.
   * @throws ProviderError
   */
  putProduct(request: PutProduct): Promise<ProviderProduct>
}

export type CatalogProduct = {
  readonly product_id: string
  readonly name: string
  readonly description: string | null
  readonly product_type: ProductType
  readonly price: CatalogPrice
}

export type CatalogPrice = {
  /** In ISO 4217's minor units; 0 is allowed. */
  readonly amount_cents: number
  /** Upper case. */
  readonly currency: string
  /** `null` for a one-time price. */
  readonly recurring: { readonly interval: BillingInterval; readonly trial_days: number } | null
}

export type PutProduct = {
  /** For objects whose id the provider chooses. Every price change has a new key, also one back to an earlier price. */
  readonly idempotency_key: string
  readonly product: CatalogProduct
  /** `keep`: leave the existing price as it is. */
  readonly price: 'put' | 'keep'
  /** Ids returned by an earlier call. The objects may have been deleted since. */
  readonly known: ProviderProductIds | null
}

export type ProviderProductIds = { readonly provider_product_id: string; readonly provider_price_id: string | null }

export type ProviderProduct = ProviderProductIds & {
  /** Fields that differ at the provider because it does not allow changing them. */
  readonly kept_fields: readonly ('name' | 'description' | 'product_type')[]
}
