// A cluster: nodes that are down or do not lead, and one election, seen by a store and its followers.

import { startCluster } from '@paylog/testing/cluster/startCluster'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { readLogEnd } from '../read/reads.ts'
import { byRole, prefix, quickElections, rideOut } from '../testing/clusterHarness.ts'
import { appendFirst, connectEventStore } from '../testing/eventStoreHarness.ts'
import { followerHarness } from '../testing/followerHarness.ts'
import { createRawClient } from './calls.ts'

const cluster = await startCluster(t, quickElections)
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
