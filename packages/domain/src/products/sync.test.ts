import { given as givenEvents } from '@paylog/testing/assertions'
import t, { type Test } from 'tap'
import type { Fold } from '../events.ts'
import { requestInFlightMs } from '../idempotentRequest.ts'
import type { ProductEvent, ProductSynced } from './events.ts'
import {
  endSync,
  evolveSync,
  type Hashes,
  isSyncing,
  lateCallMs,
  mapLocally,
  type ProviderSyncState,
  planSync,
  type SyncGoal,
  type SyncPlan,
  startSync,
} from './sync.ts'

const product_id = '018f0000-0000-7000-8000-000000000001'
const start = Date.parse('2026-01-01T00:00:00.000Z')
const at = (ms: number) => new Date(start + ms)
const factsAt = (ms: number) => ({ product_id, provider_id: 'stripe', occurred_at: at(ms).toISOString() })
const ids = { provider_product_id: product_id, provider_price_id: 'price_1', kept_fields: [] }

type SyncEvent = Parameters<typeof evolveSync>[1]
const hashes = (content_hash: string, price_hash: string | null = 'p'): Hashes => ({ content_hash, price_hash })
const put = (content: string, price?: string | null): SyncGoal => ({ ...hashes(content, price), price: 'put' })
const keep = (content: string, price?: string | null): SyncGoal => ({ ...hashes(content, price), price: 'keep' })
const started = (sync: number, goal: SyncGoal, ms = 0): SyncEvent => ({
  type: 'ProductSyncStarted',
  data: { ...factsAt(ms), sync, ...goal },
})
const done = (sync: number, { content_hash, price_hash }: Hashes, more: Partial<ProductSynced['data']> = {}) => {
  const data = { ...factsAt(0), sync, content_hash, price_hash, ...ids, mapped_locally: false, ...more }
  return { type: 'ProductSynced', data } satisfies SyncEvent
}
const failed = (sync: number, code = 'provider_rejected'): SyncEvent => ({
  type: 'ProductSyncFailed',
  data: { ...factsAt(0), sync, code, message: 'No' },
})
const lost = (sync: number) => failed(sync, 'provider_outcome_unknown')
const settled = [started(1, put('a')), done(1, hashes('a'))]
const unpriced = [started(1, put('a', null)), done(1, hashes('a', null), { provider_price_id: null })]

const after = (events: readonly SyncEvent[]) => events.reduce<ProviderSyncState | undefined>(evolveSync, undefined)
const fold: Fold<ProviderSyncState | undefined, ProductEvent> = {
  initialState: undefined,
  evolve: (state, event) => evolveSync(state, event as SyncEvent),
}
const given = (t: Test, ...history: readonly SyncEvent[]) =>
  givenEvents<ProviderSyncState | undefined, ProductEvent>(t, fold, history)

const forced = { force: true }
const pricing = { updatePrices: true }
const gone = { provider_price_id: null }
const overlapping = [started(1, put('a')), started(2, put('a'), requestInFlightMs)]
const crossed = [started(1, put('a')), started(2, put('b'))]
const requested = [...settled, started(2, put('b', 'q'))]
const overtaken = [started(1, put('a')), started(2, put('b'), lateCallMs)]
const twoPrices = [...settled, started(2, put('a', 'q')), started(3, put('a', 'r'))]
const bothPrices = [...twoPrices, done(2, hashes('a', 'q')), done(3, hashes('a', 'r'))]
const keptOver = [...settled, started(2, put('a', 'q')), started(3, keep('a')), done(3, hashes('a'))]
const keptSince = [...requested, lost(2), started(3, keep('c')), failed(3)]
const refused = [...requested, failed(2, 'currency_not_supported')]
const repriced = [...settled, started(2, put('a', 'q')), done(2, hashes('a', 'q'))]
const priceGone = [...settled, started(2, keep('b')), done(2, hashes('b'), gone)]
const neverPriced = [...unpriced, started(2, keep('b', null)), done(2, hashes('b', null), gone)]
const syncedAgain = [...crossed, done(1, hashes('a')), done(2, hashes('b')), started(3, put('b')), done(3, hashes('b'))]
const lostBefore = [started(1, put('a')), lost(1), started(2, put('b'), lateCallMs - 1), done(2, hashes('b'))]
const lostLong = [started(1, put('a')), lost(1), started(2, put('b'), lateCallMs), done(2, hashes('b'))]
const rejectedBefore = [started(1, put('a')), failed(1), started(2, put('b')), done(2, hashes('b'))]

type Row = readonly [
  about: string,
  history: readonly SyncEvent[],
  wanted: Hashes,
  asked: { readonly force?: boolean; readonly updatePrices?: boolean },
  status: SyncPlan['status'],
  goal?: SyncGoal,
  differs?: 'another price stays',
]
const differs = 'another price stays'

const plans: Readonly<Record<string, readonly Row[]>> = {
  'a product that was never synced is created with its price': [
    ['new', [], hashes('a'), {}, 'created', put('a')],
    ['another sync has started', [started(1, put('a'))], hashes('a'), {}, 'created', put('a')],
    ['another sync has failed', [started(1, put('a')), failed(1)], hashes('b'), {}, 'created', put('b')],
  ],
  'an unchanged product is skipped, unless the sync is forced; changed content is put, and the price kept': [
    ['unchanged', settled, hashes('a'), {}, 'skipped'],
    ['forced', settled, hashes('a'), forced, 'updated', put('a')],
    ['changed', settled, hashes('b'), {}, 'updated', keep('b')],
  ],
  'a product is not skipped after an unfinished or failed sync': [[], [failed(2)], [lost(2)]].flatMap((end): Row[] => {
    const history = [...settled, started(2, put('b', 'q')), ...end]
    return [
      ['the recorded price is put again', history, hashes('a'), {}, 'updated', put('a')],
      ['neither price', history, hashes('b', 'r'), {}, 'updated', keep('b', 'p'), differs],
    ]
  }),
  'a changed price is put only with updatePrices': [
    ['alone', settled, hashes('a', 'q'), {}, 'skipped', keep('a', 'p'), differs],
    ['with content', settled, hashes('b', 'q'), {}, 'updated', keep('b', 'p'), differs],
    ['forced', settled, hashes('a', 'q'), forced, 'updated', keep('a', 'p'), differs],
    ['with updatePrices', settled, hashes('a', 'q'), pricing, 'updated', put('a', 'q')],
  ],
  'a price that was added or removed counts as a changed price': [
    ['never a price', unpriced, hashes('a', null), {}, 'skipped'],
    ['added', unpriced, hashes('a', 'p'), {}, 'skipped', keep('a', null), differs],
    ['removed', settled, hashes('a', null), {}, 'skipped', keep('a', 'p'), differs],
    ['removed, with updatePrices', settled, hashes('a', null), pricing, 'updated', put('a', null)],
  ],
  'a requested price that may be at the provider is put again without updatePrices': [
    ['unfinished', requested, hashes('b', 'q'), {}, 'updated', put('b', 'q')],
    ['unknown', [...requested, lost(2)], hashes('b', 'q'), {}, 'updated', put('b', 'q')],
    ['unavailable', [...requested, failed(2, 'provider_unavailable')], hashes('b', 'q'), {}, 'updated', put('b', 'q')],
    ['a rejected sync that kept the price does not matter', keptSince, hashes('b', 'q'), {}, 'updated', put('b', 'q')],
  ],
  'a rejected or earlier price is not put again without updatePrices': [
    ['rejected', [...requested, failed(2)], hashes('b', 'q'), {}, 'updated', keep('b', 'p'), differs],
    ['rejected for its currency', refused, hashes('b', 'q'), {}, 'updated', keep('b', 'p'), differs],
    ['earlier', repriced, hashes('a', 'p'), {}, 'skipped', keep('a', 'q'), differs],
  ],
  'a sync that kept the price does not settle it': [hashes('b', 'q'), hashes('b', 'p')].map((wanted): Row => {
    const kept = [started(2, put('a', 'q')), failed(2), started(3, keep('b')), done(3, hashes('b'))]
    const history = [...settled, ...kept]
    return wanted.price_hash === 'q'
      ? ['rejected', history, wanted, {}, 'skipped', keep('b', 'p'), differs]
      : ['the price may be q', history, wanted, {}, 'updated', put('b', 'p')]
  }),
  'a kept price that is gone at the provider is put again without updatePrices': [
    ['gone', priceGone, hashes('b', 'q'), {}, 'updated', put('b', 'q')],
    ['there never was a price', neverPriced, hashes('b', null), {}, 'skipped'],
  ],
  'a sync with the same content that takes over settles it, whichever ends first': [
    ['only the second ends', [...overlapping, done(2, hashes('a'))], hashes('a'), {}, 'skipped'],
    ['first', [...overlapping, done(1, hashes('a')), done(2, hashes('a'))], hashes('a'), {}, 'skipped'],
    ['last', [...overlapping, done(2, hashes('a')), done(1, hashes('a'))], hashes('a'), {}, 'skipped'],
    ['it still runs', [...overlapping, done(1, hashes('a'))], hashes('a'), {}, 'updated'],
  ],
  'after overlapping syncs of different contents or prices, as 1.0.0 recorded them, another sync is due': [
    ['the first ends', [...crossed, done(1, hashes('a'))], hashes('b'), {}, 'updated'],
    ['the second ends', [...crossed, done(2, hashes('b'))], hashes('b'), {}, 'updated'],
    ['both', [...crossed, done(1, hashes('a')), done(2, hashes('b'))], hashes('b'), {}, 'updated'],
    ['in reverse', [...crossed, done(2, hashes('b')), done(1, hashes('a'))], hashes('b'), {}, 'updated'],
    ['after another sync', syncedAgain, hashes('b'), {}, 'skipped'],
    ['two prices', bothPrices, hashes('a', 'r'), pricing, 'updated', put('a', 'r')],
    ['the recorded one', bothPrices, hashes('a', 'p'), {}, 'updated', put('a', 'p')],
    ['one kept', [...keptOver, done(2, hashes('a', 'q'))], hashes('a', 'q'), {}, 'updated', put('a', 'q')],
  ],
  'a call with an unknown outcome leaves the content unsettled until lateCallMs': [
    ['before', lostBefore, hashes('b'), {}, 'updated'],
    ['then', lostLong, hashes('b'), {}, 'skipped'],
    ['a rejected call', rejectedBefore, hashes('b'), {}, 'skipped'],
  ],
  'a sync that ends after lateCallMs unsettles the content': [
    ...[done(1, hashes('a')), failed(1)].flatMap((late): Row[] => [
      ['it ends last', [...overtaken, done(2, hashes('b')), late], hashes('b'), {}, 'updated', put('b')],
      ['while the other runs', [...overtaken, late, done(2, hashes('b'))], hashes('b'), {}, 'updated'],
    ]),
    ['but not a kept price', [...settled, started(2, keep('a')), failed(2)], hashes('a'), {}, 'updated', keep('a')],
  ],
}

for (const [title, rows] of Object.entries(plans))
  t.test(title, async (t) => {
    for (const [about, history, wanted, asked, status, goal, other] of rows) {
      const plan = planSync(after(history), { wanted, force: false, updatePrices: false, ...asked })
      t.match(plan, { status, price_differs: other !== undefined, ...(goal && { goal }) }, about)
    }
  })

t.test('syncs are numbered consecutively', async (t) => {
  given(t)
    .when((state) => startSync(factsAt(0), put('a'), state))
    .then([{ type: 'ProductSyncStarted', data: { sync: 1, ...put('a') } }])
  given(t, started(1, put('a')), started(2, put('a')), failed(1))
    .when((state) => startSync(factsAt(0), keep('a'), state))
    .then([{ type: 'ProductSyncStarted', data: { sync: 3, price: 'keep' } }])
})

t.test('a product mapped locally is skipped until it changes', async (t) => {
  const state = given(t)
    .when((state) => mapLocally(factsAt(0), hashes('a', null), state))
    .then([{ type: 'ProductSynced', data: { sync: 1, mapped_locally: true, provider_product_id: product_id } }])
  for (const [content, status] of [['a', 'skipped'] as const, ['b', 'updated'] as const])
    t.match(planSync(state, { wanted: hashes(content, null), force: false, updatePrices: false }), { status })
})

t.test('a sync holds the lease until it ends, or for 20 s', async (t) => {
  const isHeld = (ms: number, ...events: readonly SyncEvent[]) => isSyncing(after(events), at(ms))
  t.notOk(isSyncing(undefined, new Date()))
  t.ok(isHeld(requestInFlightMs - 1, started(1, put('a'))))
  t.notOk(isHeld(requestInFlightMs, started(1, put('a'))))
  for (const end of [done(1, hashes('a')), failed(1), lost(1)]) t.notOk(isHeld(1, started(1, put('a')), end))
  t.ok(isHeld(requestInFlightMs, ...overlapping, done(1, hashes('a'))), 'the end of the other does not end it')
  t.notOk(isHeld(requestInFlightMs, ...overlapping, done(2, hashes('a'))))
})

t.test('a successful sync records its hashes, and a kept price as last recorded', async (t) => {
  const ends = (history: readonly SyncEvent[], goal: SyncGoal, expected: object, price: object = {}) => {
    const sync = history.length > 1 ? 2 : 1
    given(t, ...history)
      .when((state) => endSync({ ...factsAt(0), sync }, goal, { ...ids, ...price }, state))
      .then([{ type: 'ProductSynced', data: { sync, ...expected } }])
  }
  ends([started(1, put('a'))], put('a'), { ...hashes('a'), ...ids, mapped_locally: false })
  ends([...settled, started(2, keep('b', 'q'))], keep('b', 'q'), { ...hashes('b', 'p'), ...ids })
  ends([...settled, started(2, keep('b'))], keep('b'), gone, gone)
  // The third took over from the second, which was only slow.
  const other = { provider_price_id: 'price_2' }
  const takenOver = [...settled, started(2, keep('b')), started(3, put('b', 'q')), done(3, hashes('b', 'q'), other)]
  ends(takenOver, keep('b'), { ...hashes('b', 'q'), ...other })
  const ended = [...takenOver, done(2, hashes('b', 'q'), other)]
  t.match(after(ended)?.synced, { price_hash: 'q', ...other }, 'what a skipped sync reports')
})

t.test(
  'the price key is one for concurrent and repeated syncs, and another after a success or another price',
  async (t) => {
    const keyOf = (...events: readonly SyncEvent[]) => after(events)?.price_key.number
    const first = keyOf(started(1, put('a')))
    t.equal(keyOf(started(1, put('a')), started(2, put('a'))), first, 'concurrent syncs')
    t.equal(keyOf(started(1, put('a')), failed(1), started(2, put('b'))), first, 'a retry')
    const other = [...settled, started(2, put('a', 'q')), failed(2)]
    t.equal(keyOf(...other, started(3, keep('b')), started(4, put('b', 'q'))), keyOf(...other), 'a sync that keeps it')
    t.not(keyOf(...settled, started(2, put('a'))), first, 'after a success')
    t.not(keyOf(started(1, put('a')), started(2, put('a', 'q')), started(3, put('a'))), first, 'after another price')
  },
)
