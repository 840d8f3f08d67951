// The product and product sync routes under test: an administrator's requests over HTTP, and recorded state.
import { type ProductResource, productFold } from '@paylog/domain/products/product'
import type { SyncReport, SyncResult } from '@paylog/domain/products/syncReport'
import { productStream } from '@paylog/event-store/streamName'
import type { Test } from 'tap'
import { type ApiResponse, admin, commandApiHarness, type Headers } from './commandApiHarness.ts'

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

export async function productsHarness(t: Test, options: Parameters<typeof commandApiHarness>[1] = {}) {
  const api = await commandApiHarness(t, options)
  const { send, store } = api
  const post = (body?: unknown, headers: Headers = admin) =>
    send<ProductResource>('POST', '/admin/products', headers, body)

  return {
    ...api,
    post,
    put: (id: string, body?: unknown, headers: Headers = admin) =>
      send<ProductResource>('PUT', `/admin/products/${id}`, headers, body),
    /** Adds a product. @returns its id */
    async productOf(body: object = mug) {
      const { status, data, text } = await post(body)
      if (status !== 201) throw new Error(text)
      return data.id
    },
    stateOf: async (id: string) => (await store.load(productStream(id), productFold)).state,
    eventsOf: (id: string) => store.readStream(productStream(id)),
  }
}

export const syncUrl = '/admin/sync/products'

export async function syncHarness(t: Test, options: Parameters<typeof productsHarness>[1] = {}) {
  const products = await productsHarness(t, options)
  const sync = (body: unknown, headers: Headers = admin) => products.send<SyncReport>('POST', syncUrl, headers, body)

  return {
    ...products,
    sync,
    /** Syncs one product. @throws when the request as a whole fails */
    async syncOne(id: string, more: object = {}): Promise<SyncResult> {
      const { status, data, text } = await sync({ product_ids: [id], ...more })
      const [result] = data?.results ?? []
      if (status !== 200 || result === undefined) throw new Error(text)
      return result
    },
    productOf: (body: object = {}): Promise<string> => products.productOf({ ...mug, ...body }),
    async change(id: string, body: object): Promise<void> {
      const { status, text } = await products.put(id, body)
      if (status !== 200) throw new Error(text)
    },
    historyOf: async (id: string) => (await products.eventsOf(id)).slice(1).map(({ type }) => type),
  }
}
