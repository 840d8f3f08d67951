// What a provider's catalogue does for us: products, and what they are sold at.
import type { BillingInterval, ProductType } from '@paylog/domain/products/events'

/** Every call may be made again, and throws ProviderError. */
export type ProductCatalog = {
  /** Whether the provider keeps a price of such a product. */
  keepsPrice(product: CatalogProduct): boolean
  /**
   * Whether the provider could take the product, as far as that is known without asking.
   * @throws ProviderError `rejected`, `currency`
   */
  checkProduct(product: CatalogProduct): void
  /**
   * Sees to it that the catalogue holds the product, and with a price this one, ready to be sold at and no other of ours.
   * It looks at what is there, so that it may be called again whatever became of an earlier call, with any key, and by
   * several at once: nothing is there twice. The provider's limit of time holds for each call that this takes, from when it
   * is its turn; the turns come as slowly as the provider wants them.
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
  /** `null` for what is paid once. */
  readonly recurring: { readonly interval: BillingInterval; readonly trial_days: number } | null
}

export type PutProduct = {
  /** For what gets an id of the provider's own. Another price has another key, and so has the same one when it comes back. */
  readonly idempotency_key: string
  readonly product: CatalogProduct
  /** `keep`: the price that is there stays as it is, whatever the product says. */
  readonly price: 'put' | 'keep'
  /** What an earlier call has answered. It may be gone by now. */
  readonly known: ProviderProductIds | null
}

export type ProviderProductIds = { readonly provider_product_id: string; readonly provider_price_id: string | null }

export type ProviderProduct = ProviderProductIds & {
  /** Fields of a CatalogProduct that the provider does not let be changed, and which are different there. */
  readonly kept_fields: readonly ('name' | 'description' | 'product_type')[]
}
