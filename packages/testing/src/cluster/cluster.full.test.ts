// The stand-in nodes under the slow faults, and in a row of faults.
import { DeadlineExceededError } from '@eventstore/db-client'
import t from 'tap'
import { testCycles } from '../testEnvironment.ts'
import { waitFor } from '../waitFor.ts'
import { append, appendUntilFailure, connect, failure, read } from './plainClient.ts'
import { startCluster, type TestNode } from './startCluster.ts'

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
