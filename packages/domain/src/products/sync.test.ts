import t from 'tap'
import { endSync, lateCallMs, mapLocally, needsAnotherSync, planSync, startSync } from './sync.ts'
import {
  after,
  at,
  done,
  factsAt,
  failed,
  given,
  hashes,
  ids,
  keep,
  options,
  product_id,
  put,
  type SyncEvent,
  settled,
  started,
} from './testing/syncFixture.ts'

t.test('a product that was never synced is created with its price', async (t) => {
  t.same(planSync(undefined, options(hashes('a'))), { status: 'created', goal: put('a'), price_differs: false })
  t.match(
    planSync(after(started(1, put('a'))), options(hashes('a'))),
    { status: 'created' },
    'another sync has started',
  )
  t.match(planSync(after(started(1, put('a')), failed(1)), options(hashes('b'))), { status: 'created', goal: put('b') })
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

t.test('a product is not skipped after an unfinished or failed sync', async (t) => {
  for (const end of [[], [failed(2)], [failed(2, 'provider_outcome_unknown')]]) {
    const state = after(...settled, started(2, put('b', 'q')), ...end)
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
  t.match(planSync(state, options(hashes('a', null))), { status: 'skipped' })
  t.match(planSync(state, options(hashes('b', null))), { status: 'updated' })
})

t.test('concurrent syncs of the same content settle it', async (t) => {
  const state = after(started(1, put('a')), started(2, put('a')), done(2, hashes('a')))
  t.match(planSync(state, options(hashes('a'))), { status: 'skipped' })
  t.notOk(needsAnotherSync(state, { ...options(hashes('a')), now: at(0) }))
})

t.test('after concurrent syncs of different contents, the last to end is followed by another sync', async (t) => {
  const crossed = [started(1, put('a')), started(2, put('b'))]
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
    const again = [started(3, put('b')), done(3, hashes('b'))]
    t.ok(isSkipped(...crossed, first, second, ...again))
    t.notOk(needsAnother(...crossed, first, second, ...again))
  }
  t.notOk(needsAnother(...crossed, done(2, hashes('b'))), 'the other open sync puts it')
  t.ok(needsAnother(...crossed, done(1, hashes('a'))), 'the other open sync puts the same content')
})

t.test('a product that changed during its sync needs no immediate second sync', async (t) => {
  t.notOk(needsAnotherSync(after(...settled), { ...options(hashes('b')), now: at(1) }))
})

t.test('a call with an unknown outcome leaves the content unsettled until lateCallMs', async (t) => {
  const timedOut = [started(1, put('a')), failed(1, 'provider_outcome_unknown')]
  const soon = after(...timedOut, started(2, put('b'), lateCallMs - 1), done(2, hashes('b')))
  t.match(planSync(soon, options(hashes('b'))), { status: 'updated' })
  t.notOk(
    needsAnotherSync(soon, { ...options(hashes('b')), now: at(lateCallMs - 1) }),
    'an immediate second sync would settle nothing',
  )
  t.ok(needsAnotherSync(soon, { ...options(hashes('b')), now: at(lateCallMs) }))
  const later = after(...timedOut, started(2, put('b'), lateCallMs), done(2, hashes('b')))
  t.match(planSync(later, options(hashes('b'))), { status: 'skipped' })
  const rejected = after(started(1, put('a')), failed(1), started(2, put('b')), done(2, hashes('b')))
  t.match(planSync(rejected, options(hashes('b'))), { status: 'skipped' }, 'a rejected call')
})

t.test('a sync that ends after lateCallMs unsettles the content', async (t) => {
  const late = after(started(1, put('a')), started(2, put('b'), lateCallMs), done(2, hashes('b')), done(1, hashes('a')))
  t.match(planSync(late, options(hashes('b'))), { status: 'updated' })
  t.ok(needsAnotherSync(late, { ...options(hashes('b')), now: at(lateCallMs) }))
  const failing = after(started(1, put('a')), started(2, put('b'), lateCallMs), done(2, hashes('b')), failed(1))
  t.match(planSync(failing, options(hashes('b'))), { status: 'updated', goal: put('b') }, 'also when it failed')
  t.ok(failing.content.is_unsettled)
  const keeping = after(...settled, started(2, keep('a')), failed(2))
  t.match(
    planSync(keeping, options(hashes('a'))),
    { status: 'updated', goal: keep('a') },
    'but not a price that it kept',
  )
})

t.test('a successful sync records its hashes, and a kept price as last recorded', async (t) => {
  given(t, started(1, put('a')))
    .when((state) => endSync({ ...factsAt(0), sync: 1 }, put('a'), ids, state))
    .then([{ type: 'ProductSynced', data: { sync: 1, ...hashes('a'), ...ids, mapped_locally: false } }])
  const other = { provider_price_id: 'price_2' }
  given(t, ...settled, started(2, keep('b')), started(3, put('b', 'q')), done(3, hashes('b', 'q'), other))
    .when((state) => endSync({ ...factsAt(0), sync: 2 }, keep('b'), ids, state))
    .then([{ type: 'ProductSynced', data: { sync: 2, ...hashes('b', 'q'), ...other } }])
  given(t, ...settled, started(2, keep('b')))
    .when((state) => endSync({ ...factsAt(0), sync: 2 }, keep('b'), { ...ids, provider_price_id: null }, state))
    .then([{ type: 'ProductSynced', data: { sync: 2, provider_price_id: null } }])
})
