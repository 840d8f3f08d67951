import { given as givenEvents } from '@paylog/testing/assertions'
import t, { type Test } from 'tap'
import type { Fold } from '../events.ts'
import type { ProductEvent, ProductSynced } from './events.ts'
import {
  endSync,
  evolveSync,
  type Hashes,
  lateCallMs,
  mapLocally,
  needsAnotherSync,
  type ProviderSyncState,
  planSync,
  type SyncGoal,
  startSync,
} from './sync.ts'

const start = Date.parse('2026-01-01T00:00:00.000Z')
const at = (ms: number) => new Date(start + ms).toISOString()
const product_id = '018f0000-0000-7000-8000-000000000001'
const facts = { product_id, provider_id: 'stripe' }
const factsAt = (ms: number) => ({ ...facts, occurred_at: at(ms) })
const ids = { provider_product_id: product_id, provider_price_id: 'price_1', kept_fields: [] }
const hashes = (content_hash: string, price_hash: string | null = 'p'): Hashes => ({ content_hash, price_hash })
const put = (content_hash: string, price_hash: string | null = 'p'): SyncGoal => ({
  ...hashes(content_hash, price_hash),
  price: 'put',
})
const keep = (content_hash: string, price_hash: string | null = 'p'): SyncGoal => ({
  ...put(content_hash, price_hash),
  price: 'keep',
})

type SyncEvent = Parameters<typeof evolveSync>[1]
const begun = (sync: number, goal: SyncGoal, ms = 0): SyncEvent => ({
  type: 'ProductSyncStarted',
  data: { ...factsAt(ms), sync, ...goal },
})
const done = (
  sync: number,
  { content_hash, price_hash }: Hashes,
  more: Partial<ProductSynced['data']> = {},
): SyncEvent => ({
  type: 'ProductSynced',
  data: { ...factsAt(0), sync, content_hash, price_hash, ...ids, mapped_locally: false, ...more },
})
const failed = (sync: number, code = 'provider_rejected'): SyncEvent => ({
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
const after = (...events: readonly SyncEvent[]): ProviderSyncState => {
  const state = events.reduce(fold.evolve, fold.initialState)
  if (state === undefined) throw new Error('expected an event')
  return state
}
const given = (t: Test, ...history: readonly SyncEvent[]) =>
  givenEvents<ProviderSyncState | undefined, ProductEvent>(t, fold, history)

const options = (wanted: Hashes, more: { force?: boolean; updatePrices?: boolean } = {}) => ({
  wanted,
  force: false,
  updatePrices: false,
  ...more,
})
const settled = [begun(1, put('a')), done(1, hashes('a'))]

t.test('a product that was never synced is created with its price', async (t) => {
  t.same(planSync(undefined, options(hashes('a'))), { status: 'created', goal: put('a'), price_differs: false })
  t.match(planSync(after(begun(1, put('a'))), options(hashes('a'))), { status: 'created' }, 'another sync has started')
  t.match(planSync(after(begun(1, put('a')), failed(1)), options(hashes('b'))), { status: 'created', goal: put('b') })
})

t.test('an unchanged product is skipped, unless the sync is forced', async (t) => {
  const state = after(...settled)
  t.match(planSync(state, options(hashes('a'))), { status: 'skipped', price_differs: false })
  t.same(planSync(state, options(hashes('a'), { force: true })), {
    status: 'updated',
    goal: put('a'),
    price_differs: false,
  })
})

t.test('a sync puts changed content and keeps the price', async (t) => {
  t.same(planSync(after(...settled), options(hashes('b'))), {
    status: 'updated',
    goal: keep('b'),
    price_differs: false,
  })
})

t.test('a changed price is put only with updatePrices', async (t) => {
  const state = after(...settled)
  const other = hashes('a', 'q')
  t.match(planSync(state, options(other)), { status: 'skipped', price_differs: true })
  t.same(planSync(state, options(hashes('b', 'q'))), { status: 'updated', goal: keep('b', 'p'), price_differs: true })
  t.same(planSync(state, options(other, { force: true })), {
    status: 'updated',
    goal: keep('a', 'p'),
    price_differs: true,
  })
  t.same(planSync(state, options(other, { updatePrices: true })), {
    status: 'updated',
    goal: put('a', 'q'),
    price_differs: false,
  })
})

t.test('a price that was added or removed counts as a changed price', async (t) => {
  const state = after(begun(1, put('a', null)), done(1, hashes('a', null)))
  t.match(planSync(state, options(hashes('a', null))), { status: 'skipped', price_differs: false })
  t.match(planSync(state, options(hashes('a', 'p'))), { status: 'skipped', price_differs: true })
  t.match(planSync(after(...settled), options(hashes('a', null))), { status: 'skipped', price_differs: true })
  const gone = planSync(after(...settled), options(hashes('a', null), { updatePrices: true }))
  t.match(gone, { status: 'updated', goal: put('a', null) })
})

t.test('a product is not skipped after an unfinished or failed sync', async (t) => {
  for (const end of [[], [failed(2)], [failed(2, 'provider_outcome_unknown')]]) {
    const state = after(...settled, begun(2, put('b', 'q')), ...end)
    t.match(
      planSync(state, options(hashes('a'))),
      { status: 'updated', goal: put('a') },
      'the recorded price is put again',
    )
    t.match(planSync(state, options(hashes('b', 'r'))), {
      status: 'updated',
      goal: keep('b', 'p'),
      price_differs: true,
    })
  }
})

t.test(
  'a requested price that may be at the provider is put again without updatePrices, unless it was rejected',
  async (t) => {
    const requested = [...settled, begun(2, put('b', 'q'))]
    const open = [[], [failed(2, 'provider_outcome_unknown')], [failed(2, 'provider_unavailable')]]
    for (const end of open) {
      const plan = planSync(after(...requested, ...end), options(hashes('b', 'q')))
      t.match(plan, { status: 'updated', goal: put('b', 'q'), price_differs: false })
    }
    for (const code of ['provider_rejected', 'currency_not_supported']) {
      const plan = planSync(after(...requested, failed(2, code)), options(hashes('b', 'q')))
      t.match(plan, { status: 'updated', goal: keep('b', 'p'), price_differs: true }, code)
    }
    const keeping = after(...requested, failed(2, 'provider_outcome_unknown'), begun(3, keep('c')), failed(3))
    t.match(
      planSync(keeping, options(hashes('b', 'q'))),
      { goal: put('b', 'q') },
      'a rejected sync that kept the price does not matter',
    )
    const other = after(...settled, begun(2, put('a', 'q')), done(2, hashes('a', 'q')))
    t.match(
      planSync(other, options(hashes('a', 'p'))),
      { status: 'skipped', price_differs: true },
      'an earlier price is not put',
    )
  },
)

t.test('a sync that kept the price does not settle it', async (t) => {
  const state = after(...settled, begun(2, put('a', 'q')), failed(2), begun(3, keep('b')), done(3, hashes('b')))
  t.match(planSync(state, options(hashes('b', 'q'))), { status: 'skipped', price_differs: true })
  t.match(planSync(state, options(hashes('b', 'p'))), { status: 'updated', goal: put('b', 'p') }, 'the price may be q')
})

t.test('a kept price that is gone at the provider is put again without updatePrices', async (t) => {
  const gone = { provider_price_id: null }
  const state = after(...settled, begun(2, keep('b')), done(2, hashes('b'), gone))
  t.match(planSync(state, options(hashes('b', 'q'))), { status: 'updated', goal: put('b', 'q'), price_differs: false })
  t.ok(needsAnotherSync(state, { ...options(hashes('b')), now: at(1) }), 'another sync follows at once')
  const none = after(
    begun(1, put('a', null)),
    done(1, hashes('a', null), gone),
    begun(2, keep('b', null)),
    done(2, hashes('b', null), gone),
  )
  t.match(planSync(none, options(hashes('b', null))), { status: 'skipped' }, 'there never was a price')
})

t.test('syncs are numbered consecutively', async (t) => {
  given(t)
    .when((state) => startSync(factsAt(0), put('a'), state))
    .then([{ type: 'ProductSyncStarted', data: { sync: 1, ...put('a') } }])
  given(t, begun(1, put('a')), begun(2, put('a')), failed(1))
    .when((state) => startSync(factsAt(0), keep('a'), state))
    .then([{ type: 'ProductSyncStarted', data: { sync: 3, price: 'keep' } }])
})

t.test('a successful sync records its hashes, and a kept price as last recorded', async (t) => {
  given(t, begun(1, put('a')))
    .when((state) => endSync({ ...factsAt(0), sync: 1 }, put('a'), ids, state))
    .then([{ type: 'ProductSynced', data: { sync: 1, ...hashes('a'), ...ids, mapped_locally: false } }])
  const other = { provider_price_id: 'price_2' }
  given(t, ...settled, begun(2, keep('b')), begun(3, put('b', 'q')), done(3, hashes('b', 'q'), other))
    .when((state) => endSync({ ...factsAt(0), sync: 2 }, keep('b'), ids, state))
    .then([{ type: 'ProductSynced', data: { sync: 2, ...hashes('b', 'q'), ...other } }])
  given(t, ...settled, begun(2, keep('b')))
    .when((state) => endSync({ ...factsAt(0), sync: 2 }, keep('b'), { ...ids, provider_price_id: null }, state))
    .then([{ type: 'ProductSynced', data: { sync: 2, provider_price_id: null } }])
})

t.test('a product mapped locally is skipped until it changes', async (t) => {
  const state = given(t)
    .when((state) => mapLocally(factsAt(0), hashes('a', null), state))
    .then([{ type: 'ProductSynced', data: { sync: 1, mapped_locally: true, provider_product_id: product_id } }])
  t.match(planSync(state, options(hashes('a', null))), { status: 'skipped' })
  t.match(planSync(state, options(hashes('b', null))), { status: 'updated' })
})

t.test('concurrent syncs of the same content settle it', async (t) => {
  const state = after(begun(1, put('a')), begun(2, put('a')), done(2, hashes('a')))
  t.match(planSync(state, options(hashes('a'))), { status: 'skipped' })
  t.notOk(needsAnotherSync(state, { ...options(hashes('a')), now: at(0) }))
})

t.test('after concurrent syncs of different contents, the last to end is followed by another sync', async (t) => {
  const crossed = [begun(1, put('a')), begun(2, put('b'))]
  const needsAnother = (...events: readonly SyncEvent[]) =>
    needsAnotherSync(after(...events), { ...options(hashes('b')), now: at(1) })
  const isSkipped = (...events: readonly SyncEvent[]) =>
    planSync(after(...events), options(hashes('b'))).status === 'skipped'
  const ends = [done(1, hashes('a')), done(2, hashes('b'))]
  for (const [first, second] of [ends, ends.toReversed()]) {
    if (!first || !second) throw new Error('expected two syncs')
    t.notOk(isSkipped(...crossed, first), 'the order of the calls is unknown')
    t.notOk(isSkipped(...crossed, first, second))
    t.ok(needsAnother(...crossed, first, second))
    const again = [begun(3, put('b')), done(3, hashes('b'))]
    t.ok(isSkipped(...crossed, first, second, ...again))
    t.notOk(needsAnother(...crossed, first, second, ...again))
  }
  t.notOk(needsAnother(...crossed, done(2, hashes('b'))), 'the other open sync puts it')
  t.ok(needsAnother(...crossed, done(1, hashes('a'))), 'the other open sync puts the same content')
})

t.test('a product that changed during its sync needs no immediate second sync', async (t) => {
  t.notOk(needsAnotherSync(after(...settled), { ...options(hashes('b')), now: at(1) }))
})

t.test(
  'concurrent syncs of different prices leave the price unsettled, and a sync that keeps it does not',
  async (t) => {
    const prices = after(
      ...settled,
      begun(2, put('a', 'q')),
      begun(3, put('a', 'r')),
      done(2, hashes('a', 'q')),
      done(3, hashes('a', 'r')),
    )
    t.match(planSync(prices, options(hashes('a', 'r'), { updatePrices: true })), {
      status: 'updated',
      goal: put('a', 'r'),
    })
    t.match(planSync(prices, options(hashes('a', 'p'))), { status: 'updated', goal: put('a', 'p') })
    t.ok(needsAnotherSync(prices, { ...options(hashes('a', 'r'), { updatePrices: true }), now: at(1) }))
    t.ok(needsAnotherSync(prices, { ...options(hashes('a', 'r')), now: at(1) }), 'the latest requested price')
    t.notOk(
      needsAnotherSync(prices, { ...options(hashes('a', 'q')), now: at(1) }),
      'a sync without updatePrices cannot settle another price',
    )
    const kept = after(
      ...settled,
      begun(2, put('a', 'q')),
      begun(3, keep('a')),
      done(3, hashes('a')),
      done(2, hashes('a', 'q')),
    )
    t.match(planSync(kept, options(hashes('a', 'q'))), { status: 'skipped', price_differs: false })
  },
)

t.test('a call with an unknown outcome leaves the content unsettled until lateCallMs', async (t) => {
  const timedOut = [begun(1, put('a')), failed(1, 'provider_outcome_unknown')]
  const soon = after(...timedOut, begun(2, put('b'), lateCallMs - 1), done(2, hashes('b')))
  t.match(planSync(soon, options(hashes('b'))), { status: 'updated' })
  t.notOk(
    needsAnotherSync(soon, { ...options(hashes('b')), now: at(lateCallMs - 1) }),
    'an immediate second sync would settle nothing',
  )
  t.ok(needsAnotherSync(soon, { ...options(hashes('b')), now: at(lateCallMs) }))
  const later = after(...timedOut, begun(2, put('b'), lateCallMs), done(2, hashes('b')))
  t.match(planSync(later, options(hashes('b'))), { status: 'skipped' })
  const rejected = after(begun(1, put('a')), failed(1), begun(2, put('b')), done(2, hashes('b')))
  t.match(planSync(rejected, options(hashes('b'))), { status: 'skipped' }, 'a rejected call')
})

t.test('a sync that ends after lateCallMs unsettles the content', async (t) => {
  const late = after(begun(1, put('a')), begun(2, put('b'), lateCallMs), done(2, hashes('b')), done(1, hashes('a')))
  t.match(planSync(late, options(hashes('b'))), { status: 'updated' })
  t.ok(needsAnotherSync(late, { ...options(hashes('b')), now: at(lateCallMs) }))
  const failing = after(begun(1, put('a')), begun(2, put('b'), lateCallMs), done(2, hashes('b')), failed(1))
  t.match(planSync(failing, options(hashes('b'))), { status: 'updated', goal: put('b') }, 'also when it failed')
  t.ok(failing.content.is_unsettled)
  const keeping = after(...settled, begun(2, keep('a')), failed(2))
  t.match(
    planSync(keeping, options(hashes('a'))),
    { status: 'updated', goal: keep('a') },
    'but not a price that it kept',
  )
})

t.test(
  'the price key changes after a success or another price, and is the same for concurrent and repeated syncs',
  async (t) => {
    const keyOf = (...events: readonly SyncEvent[]) => after(...events).price_key.number
    const first = keyOf(begun(1, put('a')))
    t.equal(keyOf(begun(1, put('a')), begun(2, put('a'))), first, 'concurrent syncs')
    t.equal(keyOf(begun(1, put('a')), failed(1), begun(2, put('b'))), first, 'a retry')
    const other = [...settled, begun(2, put('a', 'q')), failed(2)]
    t.equal(
      keyOf(...other, begun(3, keep('b')), begun(4, put('b', 'q'))),
      keyOf(...other),
      'a sync that keeps the price',
    )
    t.not(keyOf(...settled, begun(2, put('a'))), first, 'after a success')
    t.not(keyOf(begun(1, put('a')), begun(2, put('a', 'q')), begun(3, put('a'))), first, 'after another price')
  },
)
