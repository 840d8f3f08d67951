// The catalogue of the in-process provider: products, each with one price. What its calls do in parts is the adapters' matter.
import type { CatalogProduct, ProductCatalog, ProviderProduct, PutProduct } from '@paylog/providers/productCatalog'
import { ProviderError } from '@paylog/providers/provider'
import { perform, type Steps } from './fakeSteps.ts'

type FakePrice = { readonly id: string; readonly product_id: string; readonly worth: string }
type FakeProduct = Pick<CatalogProduct, 'name' | 'description' | 'product_type'> & { readonly price: FakePrice | null }
type CatalogState = ReturnType<typeof createCatalogState>

export const createCatalogState = () => ({
  products: new Map<string, FakeProduct>(),
  /** Every price that was created, by idempotency key. */
  prices: new Map<string, FakePrice>(),
  /** Ids of products that the catalogue rejects. */
  rejected: new Set<string>(),
  /** The arguments of each call. */
  requests: [] as PutProduct[],
  /** Fields that the catalogue does not change. */
  kept_fields: [] as ProviderProduct['kept_fields'][number][],
  pricesOf(product_id: string): readonly string[] {
    return [...this.prices.values()].flatMap((price) => (price.product_id === product_id ? [price.worth] : []))
  },
})

/** Calls are `put <product>`. */
export const fakeCatalog = (steps: Steps, state: CatalogState): ProductCatalog => ({
  keepsPrice: () => true,
  checkProduct({ price: { currency } }) {
    if (currency === 'XAF') throw new ProviderError('currency', 'currency', 'XAF is not supported')
  },
  async putProduct(request) {
    state.requests.push(request)
    return perform(steps, `put ${request.product.product_id}`, () => put(state, request))
  },
})

function put(state: CatalogState, { idempotency_key: key, product, price: wanted }: PutProduct): ProviderProduct {
  const { product_id, name, description, product_type, price } = product
  if (state.rejected.has(product_id)) throw new ProviderError('rejected', 'bad_product', 'The product was rejected')
  const worth = `${price.amount_cents} ${price.currency} ${price.recurring?.interval ?? 'once'}`
  const created = state.prices.get(key) ?? { id: `price_${state.prices.size + 1}`, product_id, worth }
  if (wanted === 'put') state.prices.set(key, created)
  const own = wanted === 'put' ? created : (state.products.get(product_id)?.price ?? null)
  state.products.set(product_id, { name, description, product_type, price: own })
  return { provider_product_id: product_id, provider_price_id: own?.id ?? null, kept_fields: state.kept_fields }
}
