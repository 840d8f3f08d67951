// The route of synchronising as a test sees it: an administrator's requests, and what is on record afterwards.
import type { ProductResource } from '@paylog/domain/products/resource'
import type { SyncReport, SyncResult } from '@paylog/domain/products/syncRequest'
import { productStream } from '@paylog/event-store/streamName'
import type { Test } from 'tap'
import { type Answer, commandApiUnderTest, type Headers } from './commandApiUnderTest.ts'
import { admin } from './people.ts'
import { mug } from './productsUnderTest.ts'

export const syncUrl = '/admin/sync/products'
export type SyncAnswer = Answer<SyncReport>

export async function syncRoutesUnderTest(t: Test, options: Parameters<typeof commandApiUnderTest>[1] = {}) {
  const parts = await commandApiUnderTest(t, options)
  const { send, store } = parts
  const sync = (body: unknown, headers: Headers = admin) => send<SyncReport>('POST', syncUrl, headers, body)

  return {
    ...parts,
    sync,
    /** Syncs one product. @throws when the request as a whole is refused */
    async syncOne(id: string, more: object = {}): Promise<SyncResult> {
      const { status, data, text } = await sync({ product_ids: [id], ...more })
      const [result] = data?.results ?? []
      if (status !== 200 || result === undefined) throw new Error(text)
      return result
    },
    async productOf(body: object = {}): Promise<string> {
      const { status, data, text } = await send<ProductResource>('POST', '/admin/products', admin, { ...mug, ...body })
      if (status !== 201) throw new Error(text)
      return data.id
    },
    async change(id: string, body: object): Promise<void> {
      const { status, text } = await send('PUT', `/admin/products/${id}`, admin, body)
      if (status !== 200) throw new Error(text)
    },
    historyOf: async (id: string) => (await store.readStream(productStream(id))).slice(1).map(({ type }) => type),
  }
}
