// The stand-in nodes as the plain client sees them over the wire, and under faults. KurrentDB 26.0.3 answered the same.
import { DeadlineExceededError, type EventStoreDBClient, jsonEvent, NotLeaderError } from '@eventstore/db-client'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import t from 'tap'
import { testCycles } from '../testEnvironment.ts'
import { waitFor } from '../waitFor.ts'
import { append, appendUntilFailure, connect, failure, read } from './plainClient.ts'
import { readGossip, startCluster, type TestNode } from './startCluster.ts'

const cluster = await startCluster(t, { 'silence-ms': 1_500, 'election-ms': 400, 'step-down-ms': 3_000 })
const leaseMs = 500
const requiresLeader = true
const appended = (what: string) =>
  waitFor(() => append(connect(t, cluster)).catch(() => undefined), { what: `an append ${what}` })

t.test('a stopped leader is replaced, records nothing when it continues, and follows', async (t) => {
  const { leader } = await cluster.roles()
  const client = connect(t, leader)
  await append(client)
  leader.stop()
  const late = failure(append(client, 'late'))
  t.not((await cluster.roles()).leader, leader)
  t.ok((await append(connect(t, cluster))).success)
  leader.resume()
  t.ok(await late, 'the append to the stopped leader fails')
  await waitFor(async () => (await cluster.roles()).followers.includes(leader), { what: 'the old leader to follow' })
  t.match(await failure(read(connect(t, cluster), {}, 'late')), { type: 'stream-not-found' })
})

t.test('a leader on SIGTERM refuses connections, serves its open calls, and resets them at the end', async (t) => {
  const { leader } = await cluster.roles()
  const client = connect(t, leader)
  await append(client)
  const subscription = client.subscribeToStream('written', { requiresLeader })
  const ended = new Promise((resolve) => subscription.once('error', resolve))
  await new Promise((resolve) => subscription.once('confirmation', resolve))
  const end = leader.terminate()
  await waitFor(() => failure(read(connect(t, leader), {})), { what: 'a refusal' })
  t.ok((await append(client)).success)
  t.match(await ended, { message: /RST_STREAM with code 0/ })
  await end
  t.not((await cluster.roles()).leader, leader)
  await leader.start()
})

t.test('a leader whose followers are stopped acknowledges nothing', async (t) => {
  const { leader, followers } = await cluster.roles()
  const client = connect(t, leader)
  await append(client)
  for (const node of followers) node.stop()
  const { error, acknowledgedMs } = await appendUntilFailure(client)
  t.ok(acknowledgedMs < leaseMs, `the last acknowledged append was sent after ${acknowledgedMs} ms`)
  t.ok(error instanceof DeadlineExceededError)
  for (const node of followers) node.resume()
  await appended('with a majority')
})

const faults: Readonly<Record<string, (leader: TestNode, follower: TestNode) => Promise<unknown>>> = {
  'the leader resigned': () => cluster.resign(),
  'the leader was killed': async (leader) => {
    await leader.kill()
    await cluster.leader()
    await leader.start()
  },
  'the leader was stopped': async (leader) => {
    leader.stop()
    await cluster.leader()
    leader.resume()
  },
  'a follower was killed': async (_leader, follower) => {
    await follower.kill()
    await follower.start()
  },
  'a follower was stopped': async (_leader, follower) => {
    follower.stop()
    await appended('while a follower is stopped')
    follower.resume()
  },
  'all were killed': async () => {
    await Promise.all(cluster.nodes.map((node) => node.kill()))
    await Promise.all(cluster.nodes.map((node) => node.start()))
  },
}

t.test('in a row of faults, each term has one leader, and appends succeed after each', async (t) => {
  const kinds = Object.entries(faults)
  for (let n = 0; n < testCycles(2) * kinds.length; n++) {
    const { leader, followers } = await cluster.roles()
    const [name, cause] = kinds[n % kinds.length] ?? []
    await cause?.(leader, followers[n % 2] ?? leader)
    await appended(`after ${name}`)
  }
  const elections = cluster.nodes.flatMap((node) => node.output().match(/term \d+, leader \d+/g) ?? [])
  const terms = [...new Set(elections)].map((line) => line.split(',')[0])
  t.ok(terms.length > kinds.length / 2)
  t.equal(new Set(terms).size, terms.length)
})

const { FOLLOWER, LEADER } = gossip.MemberInfo.VNodeState
t.test('gossip of each node names the three members with their states and addresses', async (t) => {
  const { leader } = await cluster.roles()
  const expected = cluster.nodes.map((node) => [node.port, node === leader ? LEADER : FOLLOWER, true])
  for (const { endpoint } of cluster.nodes) {
    const members = (await readGossip(endpoint))?.getMembersList() ?? []
    const seen = members.map((one) => [one.getHttpEndPoint()?.getPort(), one.getState(), one.getIsAlive()])
    t.strictSame(seen, expected)
  }
})

t.test('a follower names the leader to calls that require it, and serves or forwards the others', async (t) => {
  const { leader, followers } = await cluster.roles()
  const [first = leader, second = leader] = followers
  const event = jsonEvent({ type: 'Tried', data: {} })
  const credentials = { username: 'admin', password: 'changeit' }
  const calls: Record<string, (client: EventStoreDBClient, options: object) => Promise<unknown>> = {
    BatchAppend: (client, options) => client.appendToStream('written', event, options),
    Append: (client, options) => client.appendToStream('written', event, { ...options, credentials }),
    Read: (client, options) => read(client, options),
    Delete: (client, options) => client.deleteStream('written', options),
    Tombstone: (client, options) => client.tombstoneStream('gone', options),
  }
  for (const [name, call] of Object.entries(calls)) {
    const error = await failure(call(connect(t, first), { requiresLeader }))
    t.strictSame(error instanceof NotLeaderError && error.leader, { address: '127.0.0.1', port: leader.port }, name)
    t.equal(await failure(call(connect(t, second), {})), undefined, `${name} without the requirement`)
  }
})

t.test(
  'a leader that resigned keeps its subscriptions, and ends a batch with not-leader at the next append',
  async (t) => {
    const { leader } = await cluster.roles()
    const client = connect(t, leader)
    const subscription = client.subscribeToStream('resigned', { requiresLeader })
    const next = () => new Promise((resolve) => subscription.once('data', resolve))
    const first = next()
    await append(client, 'resigned')
    await first
    await cluster.resign()
    t.ok((await failure(append(client))) instanceof NotLeaderError)
    const second = next()
    await append(connect(t, cluster), 'resigned')
    await second
  },
)

t.test('a killed leader is replaced, and follows after a restart', async (t) => {
  const { leader } = await cluster.roles()
  const subscription = connect(t, leader).subscribeToStream('written', { requiresLeader })
  const ended = new Promise((resolve) => subscription.once('error', resolve))
  await new Promise((resolve) => subscription.once('confirmation', resolve))
  await leader.kill()
  t.ok((await ended) instanceof Error)
  t.not((await cluster.roles()).leader, leader)
  t.ok((await append(connect(t, cluster))).success)
  await leader.start()
  t.not((await cluster.roles()).leader, leader)
})

t.test('a leader without a majority acknowledges nothing, steps down, and is ready with a majority', async (t) => {
  const { leader, followers } = await cluster.roles()
  const client = connect(t, leader)
  await append(client)
  await Promise.all(followers.map((node) => node.kill()))
  const { error, acknowledgedMs } = await appendUntilFailure(client)
  t.ok(acknowledgedMs < leaseMs, `the last acknowledged append was sent after ${acknowledgedMs} ms`)
  t.ok(error instanceof DeadlineExceededError, 'the outcome of the next one is unknown')
  while ((await failure(append(client))) instanceof DeadlineExceededError);
  t.match(await failure(append(client)), { message: 'Could not recognize Server Is Not Ready' })
  t.match(await failure(read(client, { requiresLeader })), { code: 14, message: /Server Is Not Ready/ })
  await followers[0]?.start()
  await cluster.leader()
  t.ok((await append(connect(t, cluster))).success)
})
