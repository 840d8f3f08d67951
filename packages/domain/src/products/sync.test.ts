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
  if (state === undefined) throw new Error('Nothing happened')
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

t.test('what was never there is created with its price', async (t) => {
  t.same(planSync(undefined, options(hashes('a'))), { status: 'created', goal: put('a'), price_differs: false })
  t.match(
    planSync(after(begun(1, put('a'))), options(hashes('a'))),
    { status: 'created' },
    'also when somebody has begun',
  )
  t.match(planSync(after(begun(1, put('a')), failed(1)), options(hashes('b'))), { status: 'created', goal: put('b') })
})

t.test('what has not changed is skipped, unless it is forced', async (t) => {
  const state = after(...settled)
  t.match(planSync(state, options(hashes('a'))), { status: 'skipped', price_differs: false })
  t.same(planSync(state, options(hashes('a'), { force: true })), {
    status: 'updated',
    goal: put('a'),
    price_differs: false,
  })
})

t.test('another content is put, and the price is left alone', async (t) => {
  t.same(planSync(after(...settled), options(hashes('b'))), {
    status: 'updated',
    goal: keep('b'),
    price_differs: false,
  })
})

t.test('another price is put only when that is asked for', async (t) => {
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

t.test('a price that came to be, or to be gone, is another price', async (t) => {
  const state = after(begun(1, put('a', null)), done(1, hashes('a', null)))
  t.match(planSync(state, options(hashes('a', null))), { status: 'skipped', price_differs: false })
  t.match(planSync(state, options(hashes('a', 'p'))), { status: 'skipped', price_differs: true })
  t.match(planSync(after(...settled), options(hashes('a', null))), { status: 'skipped', price_differs: true })
  const gone = planSync(after(...settled), options(hashes('a', null), { updatePrices: true }))
  t.match(gone, { status: 'updated', goal: put('a', null) })
})

t.test('after a sync that did not succeed nothing is skipped', async (t) => {
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

t.test('a price that was asked for and may be there is put again unasked, unless it was refused', async (t) => {
  const asked = [...settled, begun(2, put('b', 'q'))]
  const open = [[], [failed(2, 'provider_outcome_unknown')], [failed(2, 'provider_unavailable')]]
  for (const end of open) {
    const plan = planSync(after(...asked, ...end), options(hashes('b', 'q')))
    t.match(plan, { status: 'updated', goal: put('b', 'q'), price_differs: false })
  }
  for (const code of ['provider_rejected', 'currency_not_supported']) {
    const plan = planSync(after(...asked, failed(2, code)), options(hashes('b', 'q')))
    t.match(plan, { status: 'updated', goal: keep('b', 'p'), price_differs: true }, code)
  }
  const keeping = after(...asked, failed(2, 'provider_outcome_unknown'), begun(3, keep('c')), failed(3))
  t.match(planSync(keeping, options(hashes('b', 'q'))), { goal: put('b', 'q') }, 'what was refused has put no price')
  const other = after(...settled, begun(2, put('a', 'q')), done(2, hashes('a', 'q')))
  t.match(
    planSync(other, options(hashes('a', 'p'))),
    { status: 'skipped', price_differs: true },
    'but not a former one',
  )
})

t.test('a sync that kept the price settles nothing about it', async (t) => {
  const state = after(...settled, begun(2, put('a', 'q')), failed(2), begun(3, keep('b')), done(3, hashes('b')))
  t.match(planSync(state, options(hashes('b', 'q'))), { status: 'skipped', price_differs: true })
  t.match(
    planSync(state, options(hashes('b', 'p'))),
    { status: 'updated', goal: put('b', 'p') },
    'it may be q that is there',
  )
})

t.test('a kept price that is gone is put again, and that is no change of price', async (t) => {
  const gone = { provider_price_id: null }
  const state = after(...settled, begun(2, keep('b')), done(2, hashes('b'), gone))
  t.match(planSync(state, options(hashes('b', 'q'))), { status: 'updated', goal: put('b', 'q'), price_differs: false })
  t.ok(needsAnotherSync(state, { ...options(hashes('b')), now: at(1) }), 'at once')
  const none = after(
    begun(1, put('a', null)),
    done(1, hashes('a', null), gone),
    begun(2, keep('b', null)),
    done(2, hashes('b', null), gone),
  )
  t.match(
    planSync(none, options(hashes('b', null))),
    { status: 'skipped' },
    'where there never was one there is nothing gone',
  )
})

t.test('syncs are counted for themselves', async (t) => {
  given(t)
    .when((state) => startSync(factsAt(0), put('a'), state))
    .then([{ type: 'ProductSyncStarted', data: { sync: 1, ...put('a') } }])
  given(t, begun(1, put('a')), begun(2, put('a')), failed(1))
    .when((state) => startSync(factsAt(0), keep('a'), state))
    .then([{ type: 'ProductSyncStarted', data: { sync: 3, price: 'keep' } }])
})

t.test('a success says what is there; of a price that was kept, what was there before', async (t) => {
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

t.test('a provider without a catalogue holds what is recorded', async (t) => {
  const state = given(t)
    .when((state) => mapLocally(factsAt(0), hashes('a', null), state))
    .then([{ type: 'ProductSynced', data: { sync: 1, mapped_locally: true, provider_product_id: product_id } }])
  t.match(planSync(state, options(hashes('a', null))), { status: 'skipped' })
  t.match(planSync(state, options(hashes('b', null))), { status: 'updated' })
})

t.test('syncs of the same content at the same time do not disturb each other', async (t) => {
  const state = after(begun(1, put('a')), begun(2, put('a')), done(2, hashes('a')))
  t.match(planSync(state, options(hashes('a'))), { status: 'skipped' })
  t.notOk(needsAnotherSync(state, { ...options(hashes('a')), now: at(0) }))
})

t.test('of several that put different contents the last one to end goes on', async (t) => {
  const crossed = [begun(1, put('a')), begun(2, put('b'))]
  const goesOn = (...events: readonly SyncEvent[]) =>
    needsAnotherSync(after(...events), { ...options(hashes('b')), now: at(1) })
  const isSkipped = (...events: readonly SyncEvent[]) =>
    planSync(after(...events), options(hashes('b'))).status === 'skipped'
  const ends = [done(1, hashes('a')), done(2, hashes('b'))]
  for (const [first, second] of [ends, ends.toReversed()]) {
    if (!first || !second) throw new Error('There are two')
    t.notOk(isSkipped(...crossed, first), 'nobody knows whose call came last')
    t.notOk(isSkipped(...crossed, first, second))
    t.ok(goesOn(...crossed, first, second))
    const again = [begun(3, put('b')), done(3, hashes('b'))]
    t.ok(isSkipped(...crossed, first, second, ...again))
    t.notOk(goesOn(...crossed, first, second, ...again))
  }
  t.notOk(goesOn(...crossed, done(2, hashes('b'))), 'the other one is still to see to it')
  t.ok(goesOn(...crossed, done(1, hashes('a'))), 'unless he puts what is to be there now')
})

t.test('a product that changed while it was synchronised is not gone over at once', async (t) => {
  t.notOk(needsAnotherSync(after(...settled), { ...options(hashes('b')), now: at(1) }))
})

t.test('two different prices at the same time are no price that is known, and a kept one is no rival', async (t) => {
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
  t.ok(needsAnotherSync(prices, { ...options(hashes('a', 'r')), now: at(1) }), 'it was asked for last')
  t.notOk(
    needsAnotherSync(prices, { ...options(hashes('a', 'q')), now: at(1) }),
    'who keeps prices can do nothing about another one',
  )
  const kept = after(
    ...settled,
    begun(2, put('a', 'q')),
    begun(3, keep('a')),
    done(3, hashes('a')),
    done(2, hashes('a', 'q')),
  )
  t.match(planSync(kept, options(hashes('a', 'q'))), { status: 'skipped', price_differs: false })
})

t.test('a call that was given up may still come, for a while', async (t) => {
  const given_up = [begun(1, put('a')), failed(1, 'provider_outcome_unknown')]
  const soon = after(...given_up, begun(2, put('b'), lateCallMs - 1), done(2, hashes('b')))
  t.match(planSync(soon, options(hashes('b'))), { status: 'updated' })
  t.notOk(
    needsAnotherSync(soon, { ...options(hashes('b')), now: at(lateCallMs - 1) }),
    'going on at once would be no wiser',
  )
  t.ok(needsAnotherSync(soon, { ...options(hashes('b')), now: at(lateCallMs) }))
  const later = after(...given_up, begun(2, put('b'), lateCallMs), done(2, hashes('b')))
  t.match(planSync(later, options(hashes('b'))), { status: 'skipped' })
  const refused = after(begun(1, put('a')), failed(1), begun(2, put('b')), done(2, hashes('b')))
  t.match(planSync(refused, options(hashes('b'))), { status: 'skipped' }, 'one that was answered does not')
})

t.test('one that took so long that nobody reckoned with it says so at its end', async (t) => {
  const late = after(begun(1, put('a')), begun(2, put('b'), lateCallMs), done(2, hashes('b')), done(1, hashes('a')))
  t.match(planSync(late, options(hashes('b'))), { status: 'updated' })
  t.ok(needsAnotherSync(late, { ...options(hashes('b')), now: at(lateCallMs) }))
  const failing = after(begun(1, put('a')), begun(2, put('b'), lateCallMs), done(2, hashes('b')), failed(1))
  t.match(planSync(failing, options(hashes('b'))), { status: 'updated', goal: put('b') }, 'also when it failed')
  t.ok(failing.content.is_unsettled)
  const keeping = after(...settled, begun(2, keep('a')), failed(2))
  t.match(planSync(keeping, options(hashes('a'))), { status: 'updated', goal: keep('a') }, 'but not of a price it kept')
})

t.test('a price is told apart from the same one at another time', async (t) => {
  const keyOf = (...events: readonly SyncEvent[]) => after(...events).price_key.number
  const first = keyOf(begun(1, put('a')))
  t.equal(keyOf(begun(1, put('a')), begun(2, put('a'))), first, 'the same at the same time')
  t.equal(keyOf(begun(1, put('a')), failed(1), begun(2, put('b'))), first, 'and when it is tried again')
  const other = [...settled, begun(2, put('a', 'q')), failed(2)]
  t.equal(keyOf(...other, begun(3, keep('b')), begun(4, put('b', 'q'))), keyOf(...other), 'whoever keeps another one')
  t.not(keyOf(...settled, begun(2, put('a'))), first, 'another one after a success')
  t.not(keyOf(begun(1, put('a')), begun(2, put('a', 'q')), begun(3, put('a'))), first, 'and after another price')
})
