// The product and product sync routes under test: an administrator's requests over HTTP, recorded state, and the catalogue of
// the provider `shop`.
import { type ProductResource, productFold } from '@paylog/domain/products/product'
import type { SyncReport, SyncResult } from '@paylog/domain/products/syncReport'
import { productStream } from '@paylog/event-store/streamName'
import type { Test } from 'tap'
import { type ApiResponse, admin, commandApiHarness, type Headers } from './commandApiHarness.ts'
import { createFakeProvider } from './fakeProvider.ts'

export const mug = { name: 'Sample mug', product_type: 'physical', currency: 'EUR', total_cents: 1490 }
export const plan = {
  name: 'Sample plan',
  product_type: 'subscription',
  is_recurring: true,
  billing_interval: 'month',
  currency: 'EUR',
  total_cents: 990,
}

export type ProductResponse = ApiResponse<ProductResource>

export const syncUrl = '/admin/sync/products'

/** @param options `providers` besides the fake one */
export async function productsHarness(
  t: Test,
  { providers = [], ...options }: Parameters<typeof commandApiHarness>[1] = {},
) {
  const { fake, provider: shop } = createFakeProvider(t, { id: 'shop' })
  const api = await commandApiHarness(t, { ...options, providers: [shop, ...providers] })
  const { send, store, time } = api
  t.beforeEach(() => {
    time.now = () => new Date()
  })
  const post = (body?: unknown, headers: Headers = admin) =>
    send<ProductResource>('POST', '/admin/products', headers, body)
  const put = (id: string, body?: unknown, headers: Headers = admin) =>
    send<ProductResource>('PUT', `/admin/products/${id}`, headers, body)
  const sync = (body: object, headers: Headers = admin) =>
    send<SyncReport>('POST', syncUrl, headers, { provider_id: shop.id, ...body })
  const eventsOf = (id: string) => store.readStream(productStream(id))

  return {
    ...api,
    shop,
    fake,
    post,
    put,
    /** Adds a product. @returns its id */
    async productOf(body: object = {}) {
      const { status, data, text } = await post({ ...mug, ...body })
      if (status !== 201) throw new Error(text)
      return data.id
    },
    async change(id: string, body: object): Promise<void> {
      const { status, text } = await put(id, body)
      if (status !== 200) throw new Error(text)
    },
    stateOf: async (id: string) => (await store.load(productStream(id), productFold)).state,
    eventsOf,
    /** The event types after ProductAdded. */
    historyOf: async (id: string) => (await eventsOf(id)).slice(1).map(({ type }) => type),
    sync,
    /** Syncs one product. @throws when the request as a whole fails */
    async syncOne(id: string, more: object = {}): Promise<SyncResult> {
      const { status, data, text } = await sync({ product_ids: [id], ...more })
      const [result] = data?.results ?? []
      if (status !== 200 || result === undefined) throw new Error(text)
      return result
    },
    advance(ms: number) {
      time.now = () => new Date(Date.now() + ms)
    },
  }
}
