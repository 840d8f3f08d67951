// A cluster whose leader is stopped or resigns, and one without a majority.

import { setTimeout as sleep } from 'node:timers/promises'
import { startCluster } from '@paylog/testing/cluster/startCluster'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { byRole, connectReporting, prefix, quickElections, rideOut } from '../testing/clusterHarness.ts'
import { appendFirst } from '../testing/eventStoreHarness.ts'
import { followerHarness } from '../testing/followerHarness.ts'
import { asOneRequest } from './waiting.ts'

const cluster = await startCluster(t, quickElections)

t.test('appends and followers ride out a leader that is stopped, and continues', (t) =>
  rideOut(t, cluster, 'stopped', { depose: (leader) => leader.stop(), again: (leader) => leader.resume() }),
)

t.test('appends and followers ride out a leader that resigns', (t) =>
  rideOut(t, cluster, 'resigned', { depose: () => cluster.resign(), again: () => {} }),
)

t.test('without a majority nothing is recorded, callers know it within 5 s, and all goes on by itself', async (t) => {
  const { followers } = await byRole(cluster)
  const { store, lines } = connectReporting(t, cluster)
  const sub = followerHarness(store, `${prefix}majority`)
  const run = sub.run()
  await appendFirst(store, `${prefix}majority-0`)
  for (const follower of followers) await follower.kill()
  // A stand-in counts on its followers for half a second after it last heard of them.
  await sleep(1_000)
  const startedAt = performance.now()
  await asOneRequest(async () => {
    await t.rejects(appendFirst(store, `${prefix}majority-1`), { code: 'event_store_unavailable' })
    t.ok(performance.now() - startedAt < 5_500, 'an answer within 5 s')
    await t.rejects(appendFirst(store, `${prefix}majority-2`), { code: 'event_store_unavailable' })
    await t.rejects(store.head(), { code: 'event_store_unavailable' })
  })
  t.ok(performance.now() - startedAt < 6_500, 'a request with several calls does not wait for each')
  for (const follower of followers) await follower.start()
  await waitFor(
    () =>
      appendFirst(store, `${prefix}majority-3`).then(
        () => true,
        () => false,
      ),
    { what: 'an append' },
  )
  await waitFor(() => sub.seen.includes(`${prefix}majority-3@0`), { what: 'the follower to go on' })
  const recorded = new Set(sub.seen)
  t.notOk(recorded.has(`${prefix}majority-2@0`), 'what was sent to no node is not recorded')
  await run.stop()
  t.match(lines.at(-1), { message: 'the event store has elected its leader', failed_calls: Number })
})
