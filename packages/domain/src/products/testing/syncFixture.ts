// Events of product syncs, and the state after them.
import { given as givenEvents } from '@paylog/testing/assertions'
import type { Test } from 'tap'
import type { Fold } from '../../events.ts'
import type { ProductEvent, ProductSynced } from '../events.ts'
import { evolveSync, type Hashes, type ProviderSyncState, type SyncGoal } from '../sync.ts'

const start = Date.parse('2026-01-01T00:00:00.000Z')
export const at = (ms: number) => new Date(start + ms).toISOString()
export const product_id = '018f0000-0000-7000-8000-000000000001'
const facts = { product_id, provider_id: 'stripe' }
export const factsAt = (ms: number) => ({ ...facts, occurred_at: at(ms) })
export const ids = { provider_product_id: product_id, provider_price_id: 'price_1', kept_fields: [] }
export const hashes = (content_hash: string, price_hash: string | null = 'p'): Hashes => ({ content_hash, price_hash })
export const put = (content_hash: string, price_hash: string | null = 'p'): SyncGoal => ({
  ...hashes(content_hash, price_hash),
  price: 'put',
})
export const keep = (content_hash: string, price_hash: string | null = 'p'): SyncGoal => ({
  ...put(content_hash, price_hash),
  price: 'keep',
})

export type SyncEvent = Parameters<typeof evolveSync>[1]
export const started = (sync: number, goal: SyncGoal, ms = 0): SyncEvent => ({
  type: 'ProductSyncStarted',
  data: { ...factsAt(ms), sync, ...goal },
})
export const done = (
  sync: number,
  { content_hash, price_hash }: Hashes,
  more: Partial<ProductSynced['data']> = {},
): SyncEvent => ({
  type: 'ProductSynced',
  data: { ...factsAt(0), sync, content_hash, price_hash, ...ids, mapped_locally: false, ...more },
})
export const failed = (sync: number, code = 'provider_rejected'): SyncEvent => ({
  type: 'ProductSyncFailed',
  data: { ...factsAt(0), sync, code, message: 'No' },
})

const fold: Fold<ProviderSyncState | undefined, ProductEvent> = {
  initialState: undefined,
  evolve: (state, event) =>
    event.type === 'ProductSyncStarted' || event.type === 'ProductSynced' || event.type === 'ProductSyncFailed'
      ? evolveSync(state, event)
      : state,
}
export const after = (...events: readonly SyncEvent[]): ProviderSyncState => {
  const state = events.reduce(fold.evolve, fold.initialState)
  if (state === undefined) throw new Error('expected an event')
  return state
}
export const given = (t: Test, ...history: readonly SyncEvent[]) =>
  givenEvents<ProviderSyncState | undefined, ProductEvent>(t, fold, history)

export const options = (wanted: Hashes, more: { force?: boolean; updatePrices?: boolean } = {}) => ({
  wanted,
  force: false,
  updatePrices: false,
  ...more,
})
export const settled = [started(1, put('a')), done(1, hashes('a'))]
