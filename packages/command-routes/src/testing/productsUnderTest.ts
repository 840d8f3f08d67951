// The product routes as a test sees them: an administrator's requests over HTTP, and what is on record afterwards.
import { productFold } from '@paylog/domain/products/product'
import type { ProductResource } from '@paylog/domain/products/resource'
import { productStream } from '@paylog/event-store/streamName'
import type { Test } from 'tap'
import { type ApiResponse, commandApiHarness, type Headers } from './commandApiUnderTest.ts'
import { admin } from './people.ts'

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
  const parts = await commandApiHarness(t, options)
  const { send, store } = parts
  const post = (body?: unknown, headers: Headers = admin) =>
    send<ProductResource>('POST', '/admin/products', headers, body)

  return {
    ...parts,
    post,
    put: (id: string, body?: unknown, headers: Headers = admin) =>
      send<ProductResource>('PUT', `/admin/products/${id}`, headers, body),
    /** Adds a product that the test needs to be there. @returns its id */
    async productOf(body: object = mug) {
      const { status, data, text } = await post(body)
      if (status !== 201) throw new Error(text)
      return data.id
    },
    stateOf: async (id: string) => (await store.load(productStream(id), productFold)).state,
    eventsOf: (id: string) => store.readStream(productStream(id)),
  }
}
