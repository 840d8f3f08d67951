// Syncs products and their prices to Stripe. https://docs.stripe.com/api/products https://docs.stripe.com/api/prices
import type Stripe from 'stripe'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code, maybe } from '../fields.ts'
import { withPriority } from '../pacing.ts'
import type {
  CatalogPrice,
  CatalogProduct,
  ProductCatalog,
  ProviderProduct,
  ProviderProductIds,
  PutProduct,
} from '../productCatalog.ts'
import { ProviderError } from '../provider.ts'
import { type ApiResponse, ErrorResponse, nullIf } from '../providerApi.ts'
import { nullIfMissing, rejected, type StripeApi, sentAmount } from './api.ts'
import { CurrencyCode, idIn, Reference } from './objects.ts'

/** How often we start over when another call or the merchant changes the same product. */
const maxRounds = 5

export function createCatalog(api: StripeApi): ProductCatalog {
  return {
    keepsPrice: () => true,
    checkProduct: (product) => void unitAmountOf(product),
    putProduct: (request) =>
      withPriority('background', () =>
        request.price === 'put' ? putWithPrice(api, request) : putProductOnly(api, request),
      ),
  }
}

/** @throws ProviderError `currency` */
const unitAmountOf = ({ price: { amount_cents, currency } }: CatalogProduct): number =>
  sentAmount(amount_cents, currency)

async function putProductOnly(api: StripeApi, { product, known }: PutProduct): Promise<ProviderProduct> {
  const { id, isNew } = await upsertProduct(api, product, known)
  // If the merchant deleted the product, its price is gone too.
  const provider_price_id = isNew ? null : (known?.provider_price_id ?? null)
  return { provider_product_id: id, provider_price_id, kept_fields: [] }
}

/**
 * Sets the default price before archiving the others, because Stripe does not archive a default price. After a
 * rejection or an unexpected state we start over: another call or the merchant changed the product meanwhile.
 */
async function putWithPrice(api: StripeApi, request: PutProduct): Promise<ProviderProduct> {
  const { product, known, idempotency_key } = request
  const wanted = { ...product.price, unit_amount: unitAmountOf(product), product_id: product.product_id }
  let rejection = new ProviderError(
    'unknown',
    'price_contended',
    'The price at the provider is being changed elsewhere',
  )
  for (let round = 0; round < maxRounds; round++) {
    const { id, default_price, isNew } = await upsertProduct(api, product, known)
    const ours = isNew ? [] : await listPrices(api, { product: id, product_id: product.product_id })
    // The oldest of several, so that parallel calls choose the same one.
    const adopted = ours.findLast((price) => isPriceOf(price, wanted))?.id
    const idempotencyKey = round === 0 ? idempotency_key : `${idempotency_key}-${round}`
    const priceId = adopted ?? (await createPrice(api, { product: id, wanted, idempotencyKey }))
    if (priceId === null) continue
    const others = ours.map((price) => price.id).filter((other) => other !== priceId)
    const rejected = await makeDefaultPrice(api, { product: { id, default_price }, priceId, others })
    if (rejected === null) return { provider_product_id: id, provider_price_id: priceId, kept_fields: [] }
    rejection = rejected
  }
  throw rejection
}

const ProductResponse = Type.Object({ id: Code, default_price: maybe(Reference) })
const productResponse = Compile(ProductResponse)

export type PresentProduct = { readonly id: string; readonly default_price: string | null; readonly isNew: boolean }

/**
 * Creates or updates the product. It has our product id, and Stripe rejects a second one with the same id, so a retry
 * after a lost response never creates a duplicate.
 * @throws ProviderError
 */
async function upsertProduct(
  api: StripeApi,
  product: CatalogProduct,
  known: ProviderProductIds | null,
): Promise<PresentProduct> {
  const present =
    (known && (await updateProduct(api, known.provider_product_id, product))) ??
    (await createProduct(api, product)) ??
    (await updateProduct(api, product.product_id, product))
  if (present) return present
  throw rejected('product_id_spent')
}

/** @returns `null` when a product with this id exists already */
async function createProduct(api: StripeApi, product: CatalogProduct): Promise<PresentProduct | null> {
  const { product_id, name, description } = product
  const params: Stripe.ProductCreateParams = {
    id: product_id,
    name,
    ...(description ? { description } : {}),
    metadata: metadataOf(product),
  }
  const created = await api
    .request(productResponse, (stripe) => stripe.products.create(params))
    .catch(nullIf(({ code }) => code === 'resource_already_exists'))
  return created && { ...presentProduct(created), isNew: true }
}

/** @returns `null` when there is no product with this id */
async function updateProduct(api: StripeApi, id: string, product: CatalogProduct): Promise<PresentProduct | null> {
  const { name, description } = product
  // An empty string clears the description.
  const fields = { name, description: description ?? '', active: true, metadata: metadataOf(product) }
  const updated = await changeProduct(api, id, fields).catch(nullIfMissing)
  return updated && { ...presentProduct(updated), isNew: false }
}

function changeProduct(api: StripeApi, id: string, params: Stripe.ProductUpdateParams) {
  return api.request(productResponse, (stripe) => stripe.products.update(id, params))
}

/** In metadata, because Stripe's own `type` only distinguishes goods and services. */
function metadataOf({ product_id, product_type }: CatalogProduct) {
  return { product_id, product_type }
}

function presentProduct({ body: { id, default_price } }: ApiResponse<Static<typeof ProductResponse>>) {
  return { id, default_price: idIn(default_price) }
}

const Price = Type.Object({
  id: Code,
  currency: CurrencyCode,
  unit_amount: maybe(Type.Number()),
  recurring: maybe(
    Type.Object({
      interval: Type.String(),
      interval_count: Type.Number(),
      trial_period_days: maybe(Type.Number()),
    }),
  ),
  metadata: maybe(Type.Record(Type.String(), Type.String())),
})
type Price = Static<typeof Price>
const created = Compile(Type.Object({ id: Code }))
const page = Compile(Type.Object({ data: Type.Array(Price), has_more: Type.Boolean() }))

/** Stripe's maximum. */
const pageSize = 100
/** If a product has more active prices, the oldest are ignored. */
const maxPages = 20

export type WantedPrice = Pick<CatalogPrice, 'currency' | 'recurring'> & {
  readonly unit_amount: number
  readonly product_id: string
}

/** @returns our active prices of a product, newest first, without those that the merchant created */
async function listPrices(
  api: StripeApi,
  { product, product_id }: { readonly product: string; readonly product_id: string },
): Promise<readonly Price[]> {
  const ours: Price[] = []
  let last: Price | undefined
  for (let pages = 0; pages < maxPages; pages++) {
    const from = last ? { starting_after: last.id } : {}
    const params = { product, active: true, limit: pageSize, ...from }
    const { data, has_more } = (await api.request(page, (stripe) => stripe.prices.list(params))).body
    ours.push(...data.filter(({ metadata }) => metadata?.product_id === product_id))
    last = data.at(-1)
    if (!has_more || !last) break
  }
  return ours
}

function isPriceOf({ unit_amount, currency, recurring }: Price, wanted: WantedPrice): boolean {
  if (unit_amount !== wanted.unit_amount || currency.toUpperCase() !== wanted.currency) return false
  if (!recurring || !wanted.recurring) return !recurring && !wanted.recurring
  const { interval, interval_count, trial_period_days } = recurring
  const trial_days = trial_period_days ?? 0
  return interval === wanted.recurring.interval && interval_count === 1 && trial_days === wanted.recurring.trial_days
}

/**
 * @returns `null` when Stripe replays an earlier response to this key, which may be outdated: the price may have been
 *   archived or deleted since, or the cause of a rejection may be gone
 */
async function createPrice(api: StripeApi, { product, wanted, idempotencyKey }: PriceToCreate): Promise<string | null> {
  const { unit_amount, product_id } = wanted
  const params: Stripe.PriceCreateParams = {
    product,
    unit_amount,
    currency: wanted.currency.toLowerCase(),
    ...(wanted.recurring ? { recurring: recurringOf(wanted.recurring) } : {}),
    metadata: { product_id },
  }
  const response = await api
    .request(created, (stripe) => stripe.prices.create(params, { idempotencyKey }))
    .catch(nullIf((error) => isReplayed(error.response)))
  return response === null || isReplayed(response) ? null : response.body.id
}

type PriceToCreate = { readonly product: string; readonly wanted: WantedPrice; readonly idempotencyKey: string }

/**
 * The trial is only a default: a subscription must request it (`trial_from_plan`), and Checkout has its own. Stripe
 * does not accept a trial of 0 days.
 */
function recurringOf({ interval, trial_days }: NonNullable<CatalogPrice['recurring']>) {
  return { interval, ...(trial_days > 0 ? { trial_period_days: trial_days } : {}) }
}

const isReplayed = ({ headers }: ApiResponse<unknown>) => headers['idempotent-replayed'] === 'true'

/** Makes a price the default and archives the others. @returns the rejection, if Stripe rejected a call */
async function makeDefaultPrice(
  api: StripeApi,
  { product: { id, default_price }, priceId, others }: DefaultPriceChange,
): Promise<ProviderError | null> {
  try {
    if (default_price !== priceId) await changeProduct(api, id, { default_price: priceId })
    for (const other of others) await api.request(created, (stripe) => stripe.prices.update(other, { active: false }))
    return null
  } catch (error) {
    if (error instanceof ErrorResponse && error.kind === 'rejected') return error
    throw error
  }
}

type DefaultPriceChange = {
  readonly product: { readonly id: string; readonly default_price: string | null }
  readonly priceId: string
  readonly others: readonly string[]
}
