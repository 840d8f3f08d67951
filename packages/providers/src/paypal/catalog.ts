// Syncs products to PayPal's catalogue. A recurring product also has a billing plan, see plans.ts.
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import { withPriority } from '../pacing.ts'
import type { CatalogPrice, CatalogProduct, ProductCatalog, ProviderProduct, PutProduct } from '../productCatalog.ts'
import { ProviderError } from '../provider.ts'
import { ErrorResponse, nullIf } from '../providerApi.ts'
import { noContent, nullIfMissing, type PaypalApi, requestKeyOf } from './client.ts'
import { toMoney } from './fields.ts'
import { keepPlan, maxTrialDays, putPlan, type RecurringPrice, withdrawPlans } from './plans.ts'

const maxNameLength = 127
const maxDescriptionLength = 256

const types = { physical: 'PHYSICAL', digital: 'DIGITAL', service: 'SERVICE', subscription: 'SERVICE' } as const

export function createCatalog(api: PaypalApi): ProductCatalog {
  return {
    // A one-time price is sent with each order.
    keepsPrice: ({ price }) => price.recurring !== null,
    checkProduct,
    putProduct: (request) => withPriority('background', () => putProduct(api, request)),
  }
}

/** Counts characters. PayPal may count some of them as several and still reject the product. */
function checkProduct({ name, description, price }: CatalogProduct): void {
  if ([...name].length > maxNameLength)
    throw rejected('name_too_long', `PayPal accepts names of at most ${maxNameLength} characters`)
  if ([...(description ?? '')].length > maxDescriptionLength)
    throw rejected('description_too_long', `PayPal accepts descriptions of at most ${maxDescriptionLength} characters`)
  if (!isRecurring(price)) return
  toMoney(price.amount_cents, price.currency)
  // PayPal documents free trials and rejects free tiers. It does not document free regular cycles.
  if (price.amount_cents === 0)
    throw rejected('free_plan', 'PayPal does not accept a recurring product with a total_cents of 0')
  if (price.recurring.trial_days > maxTrialDays)
    throw rejected('trial_too_long', `PayPal accepts trial_days up to ${maxTrialDays}`)
}

async function putProduct(api: PaypalApi, request: PutProduct): Promise<ProviderProduct> {
  const { product, price, known } = request
  const { product_id, name, product_type } = product
  const present = await ensureProduct(api, request)
  const description = product.description === '' ? null : product.description
  if (descriptionOf(present) !== description) await describeProduct(api, product_id, description)
  const knownId = known?.provider_price_id ?? null
  const provider_price_id =
    price === 'put' ? await putPrice(api, request) : await keepPlan(api, { product_id, knownId, name })
  return {
    provider_product_id: product_id,
    provider_price_id,
    kept_fields: [
      ...(present.name === name ? [] : (['name'] as const)),
      ...(present.type === undefined || present.type === types[product_type] ? [] : (['product_type'] as const)),
    ],
  }
}

/** Uses our product id, so that PayPal never creates a second product, even after calls with an unknown outcome. */
async function ensureProduct(api: PaypalApi, { idempotency_key, product, known }: PutProduct): Promise<PaypalProduct> {
  const { product_id: id, name, description, product_type } = product
  const found = known === null ? null : await getProduct(api, id)
  if (found) return found
  const newProduct = { id, name, description: description === '' ? null : description, type: types[product_type] }
  const created = await createProduct(api, { idempotency_key, product: newProduct })
  // It exists already, created by another call or by one with a lost response.
  const present = created ?? (await getProduct(api, id))
  if (present) return present
  throw new ProviderError(
    'unknown',
    'duplicate_resource_identifier',
    'PayPal has a product with this id but does not return it',
  )
}

const PaypalProduct = Type.Object({
  id: Code,
  name: Type.String(),
  description: Type.Optional(Type.String()),
  type: Type.Optional(Type.String()),
})
export type PaypalProduct = Static<typeof PaypalProduct>
const paypalProduct = Compile(PaypalProduct)

type NewPaypalProduct = {
  /** 6 to 50 characters; PayPal rejects a second product with the same id. */
  readonly id: string
  /** At most 127 characters; cannot be changed later. */
  readonly name: string
  /** At most 256 characters. */
  readonly description: string | null
  readonly type: 'PHYSICAL' | 'DIGITAL' | 'SERVICE'
}

/**
 * @returns `null` when a product with this id exists already. Repeated with the same key, the product's current state
 * @throws ProviderError
 */
export async function createProduct(
  api: PaypalApi,
  { idempotency_key, product }: { readonly idempotency_key: string; readonly product: NewPaypalProduct },
): Promise<PaypalProduct | null> {
  const { description, ...rest } = product
  const body = JSON.stringify({ ...rest, ...(description === null ? {} : { description }) })
  const path = '/v1/catalogs/products'
  const created = await api
    .request(paypalProduct, { method: 'POST', path, key: requestKeyOf(idempotency_key, body), body })
    .catch(nullIf(({ code }) => code === 'duplicate_resource_identifier'))
  return created?.body ?? null
}

/**
 * Changes a product's description, the only one of our fields that PayPal allows to change.
 * @param description `null` removes it
 * @throws ProviderError
 */
async function describeProduct(api: PaypalApi, productId: string, description: string | null): Promise<void> {
  const path = '/description'
  // `add` also replaces an existing description.
  const body = JSON.stringify([description === null ? { op: 'remove', path } : { op: 'add', path, value: description }])
  try {
    await api.request(noContent, { method: 'PATCH', path: productPath(productId), body })
  } catch (error) {
    if (!(error instanceof ErrorResponse)) throw error
    // PayPal rejects removing a missing description. Another call, or ours with a lost response, may have removed it.
    const present = await getProduct(api, productId)
    if (present === null || descriptionOf(present) !== description) throw error
  }
}

/** `null` when it has none. */
function descriptionOf({ description = '' }: PaypalProduct): string | null {
  return description === '' ? null : description
}

/** @returns `null` when there is no such product. @throws ProviderError */
async function getProduct(api: PaypalApi, productId: string): Promise<PaypalProduct | null> {
  const found = await api.request(paypalProduct, { method: 'GET', path: productPath(productId) }).catch(nullIfMissing)
  return found?.body ?? null
}

const productPath = (productId: string) => `/v1/catalogs/products/${encodeURIComponent(productId)}`

/** @returns the plan id; `null` for a product that is not recurring */
async function putPrice(api: PaypalApi, { idempotency_key, product, known }: PutProduct): Promise<string | null> {
  const { product_id, price } = product
  const knownId = known?.provider_price_id ?? null
  if (isRecurring(price)) return putPlan(api, { idempotency_key, product: { ...product, price }, knownId })
  await withdrawPlans(api, { product_id, knownId })
  return null
}

function isRecurring(price: CatalogPrice): price is RecurringPrice {
  return price.recurring !== null
}

function rejected(code: string, message: string): ProviderError {
  return new ProviderError('rejected', code, message)
}
