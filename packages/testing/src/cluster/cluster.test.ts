// The stand-in nodes as the plain client sees them over the wire. KurrentDB 26.0.3 answered the same.
import { DeadlineExceededError, EventStoreDBClient, jsonEvent, NotLeaderError } from '@eventstore/db-client'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import t, { type Test } from 'tap'
import { readGossip, startCluster, type TestNode } from './startCluster.ts'

const { FOLLOWER, LEADER } = gossip.MemberInfo.VNodeState
const cluster = await startCluster(t, { 'silence-ms': 1_500, 'election-ms': 300, 'step-down-ms': 3_000 })
const leaseMs = 500
const event = () => jsonEvent({ type: 'Tried', data: {} })
const requiresLeader = true

/** A client of all nodes, or of one. */
function connect(t: Test, node?: TestNode): EventStoreDBClient {
  const address = node === undefined ? cluster.connectionString : `esdb://${node.endpoint}?tls=false`
  const client = EventStoreDBClient.connectionString(address)
  t.teardown(() => client.dispose())
  return client
}

async function byRole(): Promise<{ leader: TestNode; followers: TestNode[] }> {
  const [leader] = cluster.nodes.slice(await cluster.leader())
  if (leader === undefined) throw new Error('there is no leader')
  return { leader, followers: cluster.nodes.filter((node) => node !== leader) }
}

async function read(client: EventStoreDBClient, options: { requiresLeader?: boolean } = {}): Promise<number> {
  let events = 0
  for await (const _ of client.readStream('written', options)) events += 1
  return events
}

const failure = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  )

t.test('gossip of each node names the three members with their states and addresses', async (t) => {
  const { leader } = await byRole()
  const expected = cluster.nodes.map((node) => [node.port, node === leader ? LEADER : FOLLOWER, true])
  for (const { endpoint } of cluster.nodes) {
    const members = (await readGossip(endpoint))?.getMembersList() ?? []
    t.strictSame(
      members.map((one) => [one.getHttpEndPoint()?.getPort(), one.getState(), one.getIsAlive()]),
      expected,
    )
  }
})

t.test('a follower names the leader to calls that require it, and serves or forwards the others', async (t) => {
  const { leader, followers } = await byRole()
  const credentials = { username: 'admin', password: 'changeit' }
  const calls: Record<string, (client: EventStoreDBClient, options: object) => Promise<unknown>> = {
    BatchAppend: (client, options) => client.appendToStream('written', event(), options),
    Append: (client, options) => client.appendToStream('written', event(), { ...options, credentials }),
    Read: (client, options) => read(client, options),
    Delete: (client, options) => client.deleteStream('written', options),
    Tombstone: (client, options) => client.tombstoneStream('gone', options),
  }
  for (const [name, call] of Object.entries(calls)) {
    const error = await failure(call(connect(t, followers[1]), { requiresLeader }))
    t.strictSame(error instanceof NotLeaderError && error.leader, { address: '127.0.0.1', port: leader.port }, name)
    t.equal(await failure(call(connect(t, followers[0]), {})), undefined, `${name} without the requirement`)
  }
})

t.test(
  'a leader that resigned keeps its subscriptions, and ends a batch with not-leader at the next append',
  async (t) => {
    const { leader } = await byRole()
    const client = connect(t, leader)
    const subscription = client.subscribeToStream('resigned', { requiresLeader })
    const received: string[] = []
    subscription.on('data', ({ event }) => received.push(event?.type ?? ''))
    await client.appendToStream('resigned', event(), { requiresLeader })
    await cluster.resign()
    t.ok((await failure(client.appendToStream('resigned', event(), { requiresLeader }))) instanceof NotLeaderError)
    const another = new Promise((resolve) => subscription.once('data', resolve))
    t.ok((await connect(t).appendToStream('resigned', event())).success)
    await another
    t.ok(received.length > 0)
  },
)

t.test('a killed leader is replaced, and follows after a restart', async (t) => {
  const { leader } = await byRole()
  const subscription = connect(t, leader).subscribeToStream('written', { requiresLeader })
  const ended = new Promise((resolve) => subscription.once('error', resolve))
  await new Promise((resolve) => subscription.once('confirmation', resolve))
  await leader.kill()
  t.ok((await ended) instanceof Error)
  t.not((await byRole()).leader, leader)
  t.ok((await connect(t).appendToStream('written', event())).success)
  await leader.start()
  t.not((await byRole()).leader, leader)
})

t.test('a leader without a majority acknowledges nothing, steps down, and is ready with a majority', async (t) => {
  const { leader, followers } = await byRole()
  const client = connect(t, leader)
  const append = () => client.appendToStream('written', event(), { requiresLeader })
  await append()
  await Promise.all(followers.map((node) => node.kill()))
  const lostAt = performance.now()
  let acknowledgedMs = 0
  let error: unknown
  for (let sentAt = lostAt; error === undefined; sentAt = performance.now()) {
    error = await failure(append())
    if (error === undefined) acknowledgedMs = sentAt - lostAt
  }
  t.ok(acknowledgedMs < leaseMs, `the last acknowledged append was sent after ${acknowledgedMs} ms`)
  t.ok(error instanceof DeadlineExceededError, 'the outcome of the next one is unknown')
  while ((await failure(append())) instanceof DeadlineExceededError);
  t.match(await failure(append()), { message: 'Could not recognize Server Is Not Ready' })
  t.match(await failure(read(client, { requiresLeader })), { code: 14, message: /Server Is Not Ready/ })
  await followers[0]?.start()
  await cluster.leader()
  t.ok((await connect(t).appendToStream('written', event())).success)
})
