// Brings products to PayPal: each is one of the catalogue, and a recurring one has a billing plan.
import { withPriority } from '../pacing.ts'
import type { CatalogPrice, CatalogProduct, ProductCatalog, ProviderProduct, PutProduct } from '../productCatalog.ts'
import { ProviderError } from '../provider.ts'
import { toMoney } from './amounts.ts'
import type { PaypalClient } from './client.ts'
import { maxTrialDays, type RecurringPrice } from './planPrice.ts'
import { keepPlan, putPlan, withdrawPlans } from './productPlans.ts'
import { createProduct, describeProduct, descriptionOf, getProduct, type PaypalProduct } from './products.ts'

const maxNameLength = 127
const maxDescriptionLength = 256

const types = { physical: 'PHYSICAL', digital: 'DIGITAL', service: 'SERVICE', subscription: 'SERVICE' } as const

export function createCatalog(client: PaypalClient): ProductCatalog {
  return {
    // PayPal asks for the price of what is paid once with each order.
    keepsPrice: ({ price }) => price.recurring !== null,
    checkProduct,
    putProduct: (request) => withPriority('background', () => putProduct(client, request)),
  }
}

/** A length is reckoned in characters, and PayPal may reckon some as several: it has the last word. */
function checkProduct({ name, description, price }: CatalogProduct): void {
  if ([...name].length > maxNameLength)
    throw rejected('name_too_long', `PayPal takes a name of at most ${maxNameLength} characters`)
  if ([...(description ?? '')].length > maxDescriptionLength)
    throw rejected('description_too_long', `PayPal takes a description of at most ${maxDescriptionLength} characters`)
  if (!isRecurring(price)) return
  toMoney(price.amount_cents, price.currency)
  // PayPal documents free trials and refuses free tiers; of a regular cycle that is free it says nothing.
  if (price.amount_cents === 0) throw rejected('free_plan', 'PayPal takes no recurring product with a total_cents of 0')
  if (price.recurring.trial_days > maxTrialDays)
    throw rejected('trial_too_long', `PayPal takes trial_days of at most ${maxTrialDays}`)
}

async function putProduct(client: PaypalClient, request: PutProduct): Promise<ProviderProduct> {
  const { product, price, known } = request
  const { product_id, name, product_type } = product
  const there = await ensureProduct(client, request)
  const description = product.description === '' ? null : product.description
  if (descriptionOf(there) !== description) await describeProduct(client, product_id, description)
  const knownId = known?.provider_price_id ?? null
  const provider_price_id =
    price === 'put' ? await putPrice(client, request) : await keepPlan(client, { product_id, knownId, name })
  return {
    provider_product_id: product_id,
    provider_price_id,
    kept_fields: [
      ...(there.name === name ? [] : (['name'] as const)),
      ...(there.type === undefined || there.type === types[product_type] ? [] : (['product_type'] as const)),
    ],
  }
}

/** Our id is the product's, so that there is never a second one, whatever became of earlier calls. */
async function ensureProduct(
  client: PaypalClient,
  { idempotency_key, product, known }: PutProduct,
): Promise<PaypalProduct> {
  const { product_id: id, name, description, product_type } = product
  const found = known === null ? null : await getProduct(client, id)
  if (found) return found
  const fresh = { id, name, description: description === '' ? null : description, type: types[product_type] }
  const created = await createProduct(client, { idempotency_key, product: fresh })
  // It was there already: by another call, or by one whose answer was lost.
  const there = created ?? (await getProduct(client, id))
  if (there) return there
  throw new ProviderError('unknown', 'duplicate_resource_identifier', 'PayPal hides the product that it has')
}

/** @returns the id of the plan; `null` for a product that has none any more */
async function putPrice(client: PaypalClient, { idempotency_key, product, known }: PutProduct): Promise<string | null> {
  const { product_id, price } = product
  const knownId = known?.provider_price_id ?? null
  if (isRecurring(price)) return putPlan(client, { idempotency_key, product: { ...product, price }, knownId })
  await withdrawPlans(client, { product_id, knownId })
  return null
}

function isRecurring(price: CatalogPrice): price is RecurringPrice {
  return price.recurring !== null
}

function rejected(code: string, message: string): ProviderError {
  return new ProviderError('rejected', code, message)
}
