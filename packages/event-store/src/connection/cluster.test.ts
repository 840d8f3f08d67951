// A cluster: nodes that are down or do not lead, and one election, seen by a store and its followers.

import { startCluster } from '@paylog/testing/cluster/startCluster'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { byRole, prefix, quickElections, rideOut } from '../testing/clusterHarness.ts'
import { appendFirst, connectEventStore } from '../testing/eventStoreHarness.ts'
import { followerHarness } from '../testing/followerHarness.ts'

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
  const { follower } = await byRole(cluster)
  await follower.kill()
  const store = connectEventStore(t, { connectionString })
  await appendFirst(store, `${prefix}down`)
  const sub = followerHarness(store, prefix)
  const run = sub.run()
  await waitFor(() => sub.seen.includes(`${prefix}down@0`), { what: 'the event' })
  await run.stop()
  await follower.start()
})

t.test('appends and followers ride out a leader that is killed', (t) =>
  rideOut(t, cluster, 'killed', { depose: (leader) => leader.kill(), again: (leader) => leader.start() }),
)
