// Products and their prices at Stripe. https://docs.stripe.com/api/products
import { withUrgency } from '../pacing.ts'
import type { CatalogProduct, ProductCatalog, ProviderProduct, PutProduct } from '../productCatalog.ts'
import { ProviderError } from '../provider.ts'
import { toStripeAmount } from './amounts.ts'
import type { StripeApi } from './api.ts'
import { createPrice, isPriceOf, listPrices, settlePrice } from './catalogPrices.ts'
import { putProductItself } from './catalogProduct.ts'

/** How often it is looked again when somebody else works on the same product. */
const maxRounds = 5

export function createCatalog(api: StripeApi): ProductCatalog {
  const ask: StripeApi['ask'] = (question) => withUrgency('background', () => api.ask(question))
  return {
    keepsPrice: () => true,
    checkProduct: (product) => void unitAmountOf(product),
    putProduct: (request) => (request.price === 'put' ? putWithPrice(ask, request) : putAlone(ask, request)),
  }
}

/** @throws ProviderError `currency` */
function unitAmountOf({ price: { amount_cents, currency } }: CatalogProduct): number {
  const amount = toStripeAmount(amount_cents, currency)
  if (amount !== null) return amount
  throw new ProviderError('currency', 'amount_not_writable', 'The provider does not take this amount in this currency')
}

async function putAlone(ask: StripeApi['ask'], { product, known }: PutProduct): Promise<ProviderProduct> {
  const { id, isNew } = await putProductItself(ask, product, known)
  // Where the merchant has deleted the product, its price is gone as well.
  const provider_price_id = isNew ? null : (known?.provider_price_id ?? null)
  return { provider_product_id: id, provider_price_id, kept_fields: [] }
}

/**
 * The price becomes the default one before the others are archived, because Stripe does not archive a default price.
 * Whatever is refused or found otherwise than expected on the way was done by another call meanwhile, or by the merchant:
 * then all is looked at again.
 */
async function putWithPrice(ask: StripeApi['ask'], request: PutProduct): Promise<ProviderProduct> {
  const { product, known, idempotency_key } = request
  const wanted = { ...product.price, unit_amount: unitAmountOf(product), product_id: product.product_id }
  let refusal = new ProviderError('unknown', 'price_contended', 'The price at the provider is being changed elsewhere')
  for (let round = 0; round < maxRounds; round++) {
    const { id, default_price, isNew } = await putProductItself(ask, product, known)
    const ours = isNew ? [] : await listPrices(ask, { product: id, product_id: product.product_id })
    // Of several the oldest: whoever looks at the same time chooses the same one.
    const adopted = ours.findLast((price) => isPriceOf(price, wanted))?.id
    const idempotencyKey = round === 0 ? idempotency_key : `${idempotency_key}-${round}`
    const priceId = adopted ?? (await createPrice(ask, { product: id, wanted, idempotencyKey }))
    if (priceId === null) continue
    const others = ours.map((price) => price.id).filter((other) => other !== priceId)
    const refused = await settlePrice(ask, { product: { id, default_price }, priceId, others })
    if (refused === null) return { provider_product_id: id, provider_price_id: priceId, kept_fields: [] }
    refusal = refused
  }
  throw refusal
}
