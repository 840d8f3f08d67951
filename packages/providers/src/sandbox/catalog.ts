// The sandbox's product catalogue, which stores nothing.
import type { ProductCatalog } from '../productCatalog.ts'
import { derivedId } from './derivedId.ts'

export const sandboxCatalog: ProductCatalog = {
  keepsPrice: () => true,
  checkProduct: () => undefined,

  async putProduct({ product: { product_id, price }, price: priceAction, known }) {
    const { amount_cents, currency, recurring } = price
    const terms = recurring && [recurring.interval, recurring.trial_days]
    const priceId = `sandbox_price_${derivedId(['price', product_id, amount_cents, currency, terms])}`
    return {
      provider_product_id: `sandbox_prod_${product_id}`,
      provider_price_id: priceAction === 'put' ? priceId : (known?.provider_price_id ?? null),
      kept_fields: [],
    }
  },
}
