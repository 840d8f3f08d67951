// A cluster, seen by a store and its followers: nodes that are down or do not lead, elections, and no majority.

import { setTimeout as sleep } from 'node:timers/promises'
import { startCluster } from '@paylog/testing/cluster/startCluster'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { readLogEnd } from '../read/reads.ts'
import { byRole, connectReporting, prefix, quickElections, rideOut } from '../testing/clusterHarness.ts'
import { appendFirst, connectEventStore } from '../testing/eventStoreHarness.ts'
import { followerHarness } from '../testing/followerHarness.ts'
import { createRawClient } from './calls.ts'
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

const { connectionString } = cluster

t.test('a node that does not lead is not a log without the event', async (t) => {
  const { follower } = await byRole(cluster)
  const store = connectEventStore(t, { connectionString })
  await appendFirst(store, `${prefix}has`)
  const head = await store.head()
  if (head === undefined) throw new Error('The log is empty')
  const atFollower = connectEventStore(t, { connectionString: `esdb://${follower.endpoint}?tls=false` })
  t.ok(await atFollower.has(head), 'the node names the leader, which has it')
  t.notOk(await store.has({ ...head, commit: head.commit + 1n }))
})

t.test('a store and its follower start while one of the nodes is down', async (t) => {
  const { follower, followers } = await byRole(cluster)
  await follower.kill()
  const store = connectEventStore(t, { connectionString })
  await appendFirst(store, `${prefix}down`)
  const [seed] = followers.filter((node) => node !== follower)
  const discovering = connectEventStore(t, { connectionString: `esdb+discover://${seed?.endpoint}?tls=false` })
  t.equal((await discovering.readStream(`${prefix}down`)).length, 1, 'one node names the others')
  const sub = followerHarness(store, prefix)
  const run = sub.run()
  await waitFor(() => sub.seen.includes(`${prefix}down@0`), { what: 'the event' })
  await run.stop()
  await follower.start()
})

t.test('appends and followers ride out a leader that is killed', (t) =>
  rideOut(t, cluster, 'killed', { depose: (leader) => leader.kill(), again: (leader) => leader.start() }),
)

t.test('a cluster whose nodes all refuse connections is named with the reason', async (t) => {
  const raw = createRawClient({ name: 'The log', connectionString: 'esdb://127.0.0.1:1,127.0.0.1:2?tls=false' })
  t.teardown(() => raw.close())
  await t.rejects(readLogEnd(raw), { message: /^The log cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:[12]$/ })
})
