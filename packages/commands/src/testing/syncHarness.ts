// Syncs products on a real event store to an in-process catalogue. A test sets which steps of a call fail, and what happens
// during a step.

import { randomUUIDv7 } from 'node:crypto'
import { type NewProduct, newContent, type ProductChanges } from '@paylog/domain/products/content'
import type { ProductEvent } from '@paylog/domain/products/events'
import {
  addProduct,
  changeProduct,
  existingProduct,
  type Product,
  type ProductState,
  productFold,
} from '@paylog/domain/products/product'
import { productStream } from '@paylog/event-store/streamName'
import type { CatalogProduct, ProviderProduct, PutProduct } from '@paylog/providers/productCatalog'
import { type Provider, ProviderError } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import type { Test } from 'tap'
import type { Workflow } from '../context.ts'
import { type SyncProducts, syncProducts } from '../products/syncProducts.ts'
import { createSteps, perform } from './fakeProvider.ts'
import { metadata, workflowHarness } from './workflowHarness.ts'

type FakeProduct = Pick<CatalogProduct, 'name' | 'description' | 'product_type'>

export type FakePrice = {
  readonly id: string
  readonly product_id: string
  /** `<amount_cents> <currency> <interval or "once">` */
  readonly worth: string
  active: boolean
}

export type FakeCatalog = ReturnType<typeof createCatalogState>

export function createFakeCatalog(): { readonly provider: Provider; readonly fake: FakeCatalog } {
  const fake = createCatalogState()
  const provider: Provider = {
    ...createSandbox({ webhookSecrets: ['secret'] }),
    id: 'shop',
    catalog: {
      keepsPrice: () => fake.keepsPrices,
      checkProduct({ price: { currency } }) {
        if (currency === 'XAF') throw new ProviderError('currency', 'currency', 'XAF is not supported')
      },
      putProduct: (request) => putProduct(fake, request),
    },
  }
  return { provider, fake }
}

function createCatalogState() {
  const prices: FakePrice[] = []
  const activeOf = (product_id: string) => prices.filter((price) => price.product_id === product_id && price.active)
  return {
    products: new Map<string, FakeProduct>(),
    prices,
    byKey: new Map<string, FakePrice>(),
    keepsPrices: true,
    /** Ids of products that the catalogue rejects. */
    rejected: new Set<string>(),
    /** The calls are `put <product>`, `create <key>`, `adopt <price>`, `archive <price>`. */
    ...createSteps(),
    /** The arguments of each putProduct call. */
    requests: [] as PutProduct[],
    /** Fields that the catalogue does not change. */
    kept_fields: [] as ProviderProduct['kept_fields'][number][],
    activeOf,
    worthOf: (product_id: string) => activeOf(product_id).map(({ worth }) => worth),
  }
}

/** Every step checks the current state first, so that a call can be cut off and repeated. */
async function putProduct(fake: FakeCatalog, request: PutProduct): Promise<ProviderProduct> {
  const { idempotency_key, product, price } = request
  fake.requests.push(request)
  const { product_id, name, description, product_type } = product
  await perform(fake, `put ${product_id}`, () => {
    if (fake.rejected.has(product_id)) throw new ProviderError('rejected', 'bad_product', 'The product was rejected')
    fake.products.set(product_id, { name, description, product_type })
  })
  const result = { provider_product_id: product_id, kept_fields: fake.kept_fields }
  if (price === 'put' && fake.keepsPrices) {
    const { id } = await putPrice(fake, idempotency_key, product)
    return { ...result, provider_price_id: id }
  }
  return { ...result, provider_price_id: fake.activeOf(product_id)[0]?.id ?? null }
}

async function putPrice(fake: FakeCatalog, key: string, { product_id, price }: CatalogProduct): Promise<FakePrice> {
  const worth = `${price.amount_cents} ${price.currency} ${price.recurring?.interval ?? 'once'}`
  const known = fake.prices.find((each) => each.product_id === product_id && each.worth === worth)
  const mine =
    known ??
    (await perform(fake, `create ${key}`, () => {
      const made = fake.byKey.get(key) ?? { id: `price_${fake.prices.length + 1}`, product_id, worth, active: true }
      if (!fake.byKey.has(key)) fake.prices.push(made)
      fake.byKey.set(key, made)
      return made
    }))
  if (!mine.active)
    await perform(fake, `adopt ${mine.id}`, () => {
      mine.active = true
    })
  for (const other of fake.activeOf(product_id))
    if (other !== mine)
      await perform(fake, `archive ${other.id}`, () => {
        other.active = false
      })
  return mine
}

const mug: NewProduct = { name: 'A mug', product_type: 'physical', currency: 'EUR', total_cents: 1200 }

export type SyncTestOptions = Partial<Omit<SyncProducts, 'product_ids'>> & { readonly on?: Workflow }

/** @param provider used instead of the fake catalogue */
export async function syncHarness(t: Test, provider?: Provider) {
  const { fake, provider: fakeShop } = createFakeCatalog()
  const shop = provider ?? fakeShop
  const { workflow, store, ...log } = await workflowHarness(t, shop)
  const decide = (product_id: string, decision: (state: ProductState) => ProductEvent[]) =>
    store.handle({
      stream: productStream(product_id),
      fold: productFold,
      decide: decision,
      metadata,
    })
  const occurred_at = '2026-01-31T12:00:00.000Z'

  async function sync(product_ids: readonly string[], { on = workflow, ...options }: SyncTestOptions = {}) {
    const defaults = { force: false, dryRun: false, updatePrices: false }
    return syncProducts(on, { provider: shop, metadata, ...defaults, ...options, product_ids })
  }

  return {
    ...log,
    fake,
    shop,
    workflow,
    store,
    async add(content: Partial<NewProduct> = {}): Promise<string> {
      const product_id = randomUUIDv7()
      const { is_active = true } = content
      const product = { ...newContent({ ...mug, ...content }), is_active, request_fingerprint: null }
      await decide(product_id, (state) => addProduct({ product_id, occurred_at, ...product }, state))
      return product_id
    },
    change: (product_id: string, changes: ProductChanges) =>
      decide(product_id, (state) => changeProduct({ occurred_at, changes }, state)),
    sync,
    /** Syncs one product. @returns its result */
    async syncOne(product_id: string, options: SyncTestOptions = {}) {
      const { report } = await sync([product_id], options)
      const [result, ...others] = report.results
      if (!result || others.length > 0) throw new Error('expected exactly one result')
      return result
    },
    async productOf(product_id: string): Promise<Product> {
      const { state } = await store.load(productStream(product_id), productFold)
      return existingProduct(state)
    },
    /** The event types after ProductAdded. */
    historyOf: async (product_id: string) =>
      (await store.readStream(productStream(product_id))).slice(1).map(({ type }) => type),
  }
}
