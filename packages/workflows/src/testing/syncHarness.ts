// A catalogue inside the process that keeps products and prices as real providers do. A test moves its scenery: what a step
// of a call is replaced with, and what happens while one is under way.

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
import { type Provider, ProviderError, type ProviderErrorKind } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import type { Test } from 'tap'
import type { Workflow } from '../context.ts'
import { type SyncProducts, syncProducts } from '../product-sync/syncProducts.ts'
import { metadata, workflowHarness } from './workflowHarness.ts'

type FakeProduct = Pick<CatalogProduct, 'name' | 'description' | 'product_type'>

export type FakePrice = {
  readonly id: string
  readonly product_id: string
  /** Amount, currency and interval, in words. */
  readonly worth: string
  active: boolean
}

/** What a step meets; `done` says whether the catalogue did it all the same. */
export type CatalogFailure = { readonly kind: ProviderErrorKind; readonly done?: boolean }

export type FakeCatalog = ReturnType<typeof createCatalogState>

export function createFakeCatalog(): { readonly provider: Provider; readonly stage: FakeCatalog } {
  const stage = createCatalogState()
  const provider: Provider = {
    ...createSandbox({ webhookSecrets: ['secret'] }),
    id: 'shop',
    catalog: {
      keepsPrice: () => stage.keepsPrices,
      checkProduct({ price: { currency } }) {
        if (currency === 'XAF') throw new ProviderError('currency', 'currency', 'XAF is not sold in here')
      },
      putProduct: (request) => putProduct(stage, request),
    },
  }
  return { provider, stage }
}

function createCatalogState() {
  const prices: FakePrice[] = []
  return {
    products: new Map<string, FakeProduct>(),
    prices,
    byKey: new Map<string, FakePrice>(),
    keepsPrices: true,
    /** Products that the catalogue refuses. */
    rejected: new Set<string>(),
    /** Every step, as `put <product>`, `create <key>`, `adopt <price>`, `archive <price>`. */
    calls: [] as string[],
    /** What each call was given. */
    requests: [] as PutProduct[],
    /** Fields that it does not let be changed. */
    kept_fields: [] as ProviderProduct['kept_fields'][number][],
    /** The next steps of a kind meet these. */
    failures: new Map<string, (CatalogFailure | undefined)[]>(),
    /** Every step meets this. */
    always: undefined as CatalogFailure | undefined,
    /** Runs before a step takes effect. */
    before: undefined as ((call: string) => Promise<unknown>) | undefined,
    /** Runs after a step took effect, before it is answered. */
    meanwhile: undefined as ((call: string) => Promise<unknown>) | undefined,
    activeOf: (product_id: string) => prices.filter((price) => price.product_id === product_id && price.active),
  }
}

/** Looks at what is there at every step, so that it may be cut off and repeated. */
async function putProduct(fake: FakeCatalog, request: PutProduct): Promise<ProviderProduct> {
  const { idempotency_key, product, price } = request
  fake.requests.push(request)
  const { product_id, name, description, product_type } = product
  await perform(fake, `put ${product_id}`, () => {
    if (fake.rejected.has(product_id)) throw new ProviderError('rejected', 'bad_product', 'This one is no good')
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

async function perform<Answer>(fake: FakeCatalog, call: string, act: () => Answer): Promise<Answer> {
  fake.calls.push(call)
  const [verb = ''] = call.split(' ')
  const fault = fake.failures.get(verb)?.shift() ?? fake.always
  if (fault && !fault.done) throw providerError(verb, fault)
  await fake.before?.(call)
  const result = act()
  await fake.meanwhile?.(call)
  if (fault) throw providerError(verb, fault)
  return result
}

function providerError(verb: string, { kind }: CatalogFailure): ProviderError {
  return new ProviderError(kind, `${verb}_${kind}`, 'In words for the caller')
}

// Synchronising as a test sees it: a real log, products on it, and a catalogue on a stage.

const mug: NewProduct = { name: 'A mug', product_type: 'physical', currency: 'EUR', total_cents: 1200 }

export type SyncTestOptions = Partial<Omit<SyncProducts, 'product_ids'>> & { readonly on?: Workflow }

/** @param provider in place of the staged one */
export async function syncHarness(t: Test, provider?: Provider) {
  const fake = createFakeCatalog()
  const shop = provider ?? fake.provider
  const { workflow, store, ...log } = await workflowHarness(t, shop)
  const decide = (product_id: string, decision: (state: ProductState) => ProductEvent[]) =>
    store.handle({
      stream: productStream(product_id),
      fold: productFold,
      decide: decision,
      metadata,
    })
  const occurred_at = '2026-01-31T12:00:00.000Z'

  async function sync(product_ids: readonly string[], { on = workflow, ...wish }: SyncTestOptions = {}) {
    const plain = { force: false, dryRun: false, updatePrices: false }
    return syncProducts(on, { provider: shop, metadata, ...plain, ...wish, product_ids })
  }

  return {
    ...log,
    stage: fake.stage,
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
    /** One product's result. */
    async syncOne(product_id: string, wish: SyncTestOptions = {}) {
      const { report } = await sync([product_id], wish)
      const [result, ...others] = report.results
      if (!result || others.length > 0) throw new Error('One product, one result')
      return result
    },
    async productOf(product_id: string): Promise<Product> {
      const { state } = await store.load(productStream(product_id), productFold)
      return existingProduct(state)
    },
    /** What happened to a product since it was added. */
    historyOf: async (product_id: string) =>
      (await store.readStream(productStream(product_id))).slice(1).map(({ type }) => type),
  }
}
