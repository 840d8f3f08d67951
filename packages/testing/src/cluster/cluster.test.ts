// The stand-in nodes as the plain client sees them over the wire.
import { ANY, EventStoreDBClient, jsonEvent, NotLeaderError } from '@eventstore/db-client'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import t, { type Test } from 'tap'
import { waitFor } from '../waitFor.ts'
import { readGossip, startCluster, type TestNode } from './startCluster.ts'

const { FOLLOWER, LEADER } = gossip.MemberInfo.VNodeState
const cluster = await startCluster(t, { 'silence-ms': 1_500, 'election-ms': 300, 'step-down-ms': 1_000 })
const event = () => jsonEvent({ type: 'Tried', data: {} })

/** A client of all nodes, or of one of them. */
function connect(t: Test, node?: TestNode): EventStoreDBClient {
  const address = node === undefined ? cluster.connectionString : `esdb://${node.endpoint}?tls=false`
  const client = EventStoreDBClient.connectionString(address)
  t.teardown(() => client.dispose())
  return client
}

/** The nodes by their present roles. */
async function byRole(): Promise<{ leader: TestNode; followers: TestNode[] }> {
  const [leader] = cluster.nodes.slice(await cluster.leader())
  if (leader === undefined) throw new Error('there is no leader')
  return { leader, followers: cluster.nodes.filter((node) => node !== leader) }
}

async function read(client: EventStoreDBClient, requiresLeader: boolean): Promise<number> {
  let events = 0
  for await (const _ of client.readStream('written', { requiresLeader })) events += 1
  return events
}

t.test('gossip of each node names the three members with their states and addresses', async (t) => {
  const { leader } = await byRole()
  const expected = cluster.nodes.map((node) => [node.port, node === leader ? LEADER : FOLLOWER, true])
  for (const { endpoint } of cluster.nodes) {
    const members = (await readGossip(endpoint))?.getMembersList() ?? []
    const seen = members.map((one) => [one.getHttpEndPoint()?.getPort(), one.getState(), one.getIsAlive()])
    t.strictSame(seen, expected)
  }
})

t.test('a follower serves reads that need no leader, and names the leader to all other calls', async (t) => {
  const { leader, followers } = await byRole()
  await connect(t).appendToStream('written', event(), { expectedRevision: ANY })
  t.equal(await read(connect(t, followers[0]), false), 1)
  const calls: Record<string, (client: EventStoreDBClient) => Promise<unknown>> = {
    read: (client) => read(client, true),
    batchAppend: (client) => client.appendToStream('written', event()),
    append: (client) =>
      client.appendToStream('written', event(), { credentials: { username: 'admin', password: 'changeit' } }),
    delete: (client) => client.deleteStream('written'),
    tombstone: (client) => client.tombstoneStream('written'),
  }
  for (const [name, call] of Object.entries(calls)) {
    const error = await call(connect(t, followers[1])).catch((error: unknown) => error)
    t.ok(error instanceof NotLeaderError, `${name}: not-leader`)
    if (error instanceof NotLeaderError) t.strictSame(error.leader, { address: '127.0.0.1', port: leader.port })
  }
})

const changes: Readonly<Record<string, (leader: TestNode) => Promise<unknown>>> = {
  resigned: () => cluster.resign(),
  'was killed': (leader) => leader.kill(),
}
for (const [name, change] of Object.entries(changes)) {
  t.test(`a leader that ${name} is replaced, and its open calls end`, async (t) => {
    const { leader } = await byRole()
    const old = connect(t, leader)
    const subscription = old.subscribeToStream('written', { requiresLeader: true })
    const ended = new Promise((resolve) => subscription.once('error', resolve))
    await old.appendToStream('written', event())
    await change(leader)
    t.ok(await ended, 'the subscription ended with an error')
    t.not((await byRole()).leader, leader)
    t.ok((await connect(t).appendToStream('written', event())).success)
    if (name === 'was killed') await leader.start()
    await waitFor(
      async () => (await read(connect(t, leader), true).catch((error) => error)) instanceof NotLeaderError,
      {
        what: 'the old leader to follow',
      },
    )
  })
}

t.test('a leader without a majority acknowledges no append, and is not ready after it stepped down', async (t) => {
  const { leader, followers } = await byRole()
  const client = connect(t, leader)
  await client.appendToStream('written', event())
  await Promise.all(followers.map((node) => node.kill()))
  const began = performance.now()
  await waitFor(() => performance.now() - began > 500, { what: 'the loss to be noticed' })
  const rejected = await client.appendToStream('lonely', event()).catch((error: unknown) => error)
  t.ok(rejected instanceof Error)
  const reason = await read(client, true).catch((error: unknown) => error)
  t.match(reason, { message: /Server Is Not Ready/ })
  const [follower] = followers
  await follower?.start()
  await waitFor(
    () =>
      connect(t)
        .appendToStream('written', event())
        .catch(() => undefined),
    { what: 'a write' },
  )
})
