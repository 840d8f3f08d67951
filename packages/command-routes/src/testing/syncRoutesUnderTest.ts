// The route of synchronising as a test sees it: an administrator's requests, and what is on record afterwards.
import type { SyncReport, SyncResult } from '@paylog/domain/products/syncRequest'
import type { Test } from 'tap'
import type { Headers } from './commandApiUnderTest.ts'
import { admin } from './people.ts'
import { mug, productsHarness } from './productsUnderTest.ts'

export const syncUrl = '/admin/sync/products'

export async function syncHarness(t: Test, options: Parameters<typeof productsHarness>[1] = {}) {
  const products = await productsHarness(t, options)
  const sync = (body: unknown, headers: Headers = admin) => products.send<SyncReport>('POST', syncUrl, headers, body)

  return {
    ...products,
    sync,
    /** Syncs one product. @throws when the request as a whole is refused */
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
