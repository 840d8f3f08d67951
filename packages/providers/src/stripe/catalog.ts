// Products and their prices at Stripe. https://docs.stripe.com/api/products
import { withPriority } from '../pacing.ts'
import type { CatalogProduct, ProductCatalog, ProviderProduct, PutProduct } from '../productCatalog.ts'
import { ProviderError } from '../provider.ts'
import { toStripeAmount } from './amounts.ts'
import type { StripeApi } from './api.ts'
import { createPrice, isPriceOf, listPrices, makeDefaultPrice } from './catalogPrices.ts'
import { upsertProduct } from './catalogProduct.ts'

/** How often it is looked again when somebody else works on the same product. */
const maxRounds = 5

export function createCatalog(api: StripeApi): ProductCatalog {
  const call: StripeApi['call'] = (send) => withPriority('background', () => api.call(send))
  return {
    keepsPrice: () => true,
    checkProduct: (product) => void unitAmountOf(product),
    putProduct: (request) => (request.price === 'put' ? putWithPrice(call, request) : putProductOnly(call, request)),
  }
}

/** @throws ProviderError `currency` */
function unitAmountOf({ price: { amount_cents, currency } }: CatalogProduct): number {
  const amount = toStripeAmount(amount_cents, currency)
  if (amount !== null) return amount
  throw new ProviderError('currency', 'amount_not_writable', 'The provider does not take this amount in this currency')
}

async function putProductOnly(call: StripeApi['call'], { product, known }: PutProduct): Promise<ProviderProduct> {
  const { id, isNew } = await upsertProduct(call, product, known)
  // Where the merchant has deleted the product, its price is gone as well.
  const provider_price_id = isNew ? null : (known?.provider_price_id ?? null)
  return { provider_product_id: id, provider_price_id, kept_fields: [] }
}

/**
 * The price becomes the default one before the others are archived, because Stripe does not archive a default price.
 * Whatever is refused or found otherwise than expected on the way was done by another call meanwhile, or by the merchant:
 * then all is looked at again.
 */
async function putWithPrice(call: StripeApi['call'], request: PutProduct): Promise<ProviderProduct> {
  const { product, known, idempotency_key } = request
  const wanted = { ...product.price, unit_amount: unitAmountOf(product), product_id: product.product_id }
  let rejection = new ProviderError(
    'unknown',
    'price_contended',
    'The price at the provider is being changed elsewhere',
  )
  for (let round = 0; round < maxRounds; round++) {
    const { id, default_price, isNew } = await upsertProduct(call, product, known)
    const ours = isNew ? [] : await listPrices(call, { product: id, product_id: product.product_id })
    // Of several the oldest: whoever looks at the same time chooses the same one.
    const adopted = ours.findLast((price) => isPriceOf(price, wanted))?.id
    const idempotencyKey = round === 0 ? idempotency_key : `${idempotency_key}-${round}`
    const priceId = adopted ?? (await createPrice(call, { product: id, wanted, idempotencyKey }))
    if (priceId === null) continue
    const others = ours.map((price) => price.id).filter((other) => other !== priceId)
    const rejected = await makeDefaultPrice(call, { product: { id, default_price }, priceId, others })
    if (rejected === null) return { provider_product_id: id, provider_price_id: priceId, kept_fields: [] }
    rejection = rejected
  }
  throw rejection
}
