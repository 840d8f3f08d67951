// Synchronising as a test sees it: a real log, products on it, and a catalogue on a stage.
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
import type { Provider } from '@paylog/providers/provider'
import type { Test } from 'tap'
import type { Workflow } from '../context.ts'
import { type SyncProducts, syncProducts } from '../product-sync/syncProducts.ts'
import { createFakeCatalog } from './stagedCatalog.ts'
import { metadata, workflowHarness } from './workflowUnderTest.ts'

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
