import t from 'tap'
import { requestInFlightMs } from '../idempotentRequest.ts'
import { endSync, isSyncing, lateCallMs, mapLocally, planSync, startSync } from './sync.ts'
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

t.test('a sync holds the lease until it ends, or for 20 s', async (t) => {
  const isHeld = (ms: number, ...events: readonly SyncEvent[]) => isSyncing(after(...events), new Date(at(ms)))
  t.notOk(isSyncing(undefined, new Date()))
  t.ok(isHeld(requestInFlightMs - 1, started(1, put('a'))))
  t.notOk(isHeld(requestInFlightMs, started(1, put('a'))))
  for (const end of [done(1, hashes('a')), failed(1), failed(1, 'provider_outcome_unknown')])
    t.notOk(isHeld(1, started(1, put('a')), end))
  const overtaken = [started(1, put('a')), started(2, put('a'), requestInFlightMs)]
  t.ok(isHeld(requestInFlightMs, ...overtaken, done(1, hashes('a'))), 'the end of the other does not end it')
  t.notOk(isHeld(requestInFlightMs, ...overtaken, done(2, hashes('a'))))
})

t.test('a sync with the same content that takes over settles it, whichever ends first', async (t) => {
  const both = [started(1, put('a')), started(2, put('a'), requestInFlightMs)]
  for (const ends of [
    [done(2, hashes('a'))],
    [done(1, hashes('a')), done(2, hashes('a'))],
    [done(2, hashes('a')), done(1, hashes('a'))],
  ])
    t.match(planSync(after(...both, ...ends), options(hashes('a'))), { status: 'skipped' })
  t.match(planSync(after(...both, done(1, hashes('a'))), options(hashes('a'))), { status: 'updated' }, 'it still runs')
})

t.test('after overlapping syncs of different contents, as 1.0.0 recorded them, another sync is due', async (t) => {
  const isDue = (...events: readonly SyncEvent[]) =>
    planSync(after(...events), options(hashes('b'))).status === 'updated'
  const crossed = [started(1, put('a')), started(2, put('b'))]
  const ends = [done(1, hashes('a')), done(2, hashes('b'))]
  for (const [first, second] of [ends, ends.toReversed()]) {
    if (!first || !second) throw new Error('expected two syncs')
    t.ok(isDue(...crossed, first), 'the order of the calls is unknown')
    t.ok(isDue(...crossed, first, second))
    t.notOk(isDue(...crossed, first, second, started(3, put('b')), done(3, hashes('b'))))
  }
})

t.test('a call with an unknown outcome leaves the content unsettled until lateCallMs', async (t) => {
  const timedOut = [started(1, put('a')), failed(1, 'provider_outcome_unknown')]
  const soon = after(...timedOut, started(2, put('b'), lateCallMs - 1), done(2, hashes('b')))
  t.match(planSync(soon, options(hashes('b'))), { status: 'updated' })
  const later = after(...timedOut, started(2, put('b'), lateCallMs), done(2, hashes('b')))
  t.match(planSync(later, options(hashes('b'))), { status: 'skipped' })
  const rejected = after(started(1, put('a')), failed(1), started(2, put('b')), done(2, hashes('b')))
  t.match(planSync(rejected, options(hashes('b'))), { status: 'skipped' }, 'a rejected call')
})

t.test('a sync that ends after lateCallMs unsettles the content', async (t) => {
  const overtaken = [started(1, put('a')), started(2, put('b'), lateCallMs)]
  for (const late of [done(1, hashes('a')), failed(1)]) {
    const ended = after(...overtaken, done(2, hashes('b')), late)
    t.match(planSync(ended, options(hashes('b'))), { status: 'updated', goal: put('b') })
    const meanwhile = after(...overtaken, late, done(2, hashes('b')))
    t.match(planSync(meanwhile, options(hashes('b'))), { status: 'updated' }, 'also while the other runs')
  }
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
  given(t, ...settled, started(2, keep('b', 'q')))
    .when((state) => endSync({ ...factsAt(0), sync: 2 }, keep('b', 'q'), ids, state))
    .then([{ type: 'ProductSynced', data: { sync: 2, ...hashes('b', 'p'), ...ids } }])
  given(t, ...settled, started(2, keep('b')))
    .when((state) => endSync({ ...factsAt(0), sync: 2 }, keep('b'), { ...ids, provider_price_id: null }, state))
    .then([{ type: 'ProductSynced', data: { sync: 2, provider_price_id: null } }])
})
