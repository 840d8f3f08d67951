// What a provider's catalogue gets of a product, and the hashes that tell whether that is the same as before.
import { createHash } from 'node:crypto'
import type { Hashes } from '@paylog/domain/products/atProvider'
import type { ProductContent } from '@paylog/domain/products/events'
import type { CatalogProduct, ProductCatalog } from '@paylog/providers/productCatalog'

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

/** Of what the provider holds when it has the product as it is. @param catalog `null` for a provider that keeps none */
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

/** A list, and not an object, whose order would depend on who made it. */
function hashOf(values: readonly (string | number | null)[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('hex')
}
