// A cluster: nodes that are down or do not lead, elections, and no majority, seen by a store and its followers.

import { setTimeout as sleep } from 'node:timers/promises'
import { startCluster, type TestNode } from '@paylog/testing/cluster/startCluster'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { createEventStore, type EventStore } from '../eventStore.ts'
import { appendFirst, connectEventStore } from '../testing/eventStoreHarness.ts'
import { followerHarness } from '../testing/followerHarness.ts'
import { memoryKeys } from '../testing/memoryKeys.ts'

const prefix = 'guestToken-'
const cluster = await startCluster(t, { 'silence-ms': 1_500, 'election-ms': 300, 'step-down-ms': 1_000 })
const { connectionString, nodes } = cluster

type Line = { readonly message: string; readonly [detail: string]: unknown }

/** A store with its own limits, and what it logs. */
function connectReporting(t: Test) {
  const lines: Line[] = []
  const keep = (detail: object, message: string) => void lines.push({ ...detail, message })
  const log = { info: keep, warn: keep, error: keep }
  const store = createEventStore({ connectionString, keys: memoryKeys(), log })
  t.teardown(() => store.close())
  return { store, lines }
}

async function byRole() {
  const leader = nodes[await cluster.leader()]
  const followers = nodes.filter((node) => node !== leader)
  if (leader === undefined || followers[0] === undefined) throw new Error('There is no leader')
  return { leader, follower: followers[0], followers }
}

/** Appends to new streams, one after the other, until it is stopped. */
function keepAppending(store: EventStore, name: string) {
  const acknowledged: string[] = []
  const failures: unknown[] = []
  let isOver = false
  const running = (async () => {
    for (let n = 0; !isOver; n++) {
      const stream = `${prefix}${name}-${n}`
      await appendFirst(store, stream).then(
        () => acknowledged.push(stream),
        (error: unknown) => failures.push(error),
      )
    }
  })()
  return {
    acknowledged,
    failures,
    async stop() {
      isOver = true
      await running
    },
  }
}

t.test('a node that does not lead is not a log without the event', async (t) => {
  const { follower } = await byRole()
  const store = connectEventStore(t, { connectionString })
  await appendFirst(store, `${prefix}has`)
  const head = await store.head()
  if (head === undefined) throw new Error('The log is empty')
  const atFollower = connectEventStore(t, { connectionString: `esdb://${follower.endpoint}?tls=false` })
  t.ok(await atFollower.has(head), 'the node names the leader, which has it')
  t.notOk(await store.has({ ...head, commit: head.commit + 1n }))
})

t.test('a store and its follower start while one of the nodes is down', async (t) => {
  const { follower } = await byRole()
  await follower.kill()
  const store = connectEventStore(t, { connectionString })
  await appendFirst(store, `${prefix}down`)
  const sub = followerHarness(store, prefix)
  const run = sub.run()
  await waitFor(() => sub.seen.includes(`${prefix}down@0`), { what: 'the event' })
  await run.stop()
  await follower.start()
})

type Act = (leader: TestNode) => unknown
const elections: Readonly<Record<string, { readonly depose: Act; readonly again: Act }>> = {
  'is killed': { depose: (leader) => leader.kill(), again: (leader) => leader.start() },
  'is stopped, and continues': { depose: (leader) => leader.stop(), again: (leader) => leader.resume() },
  resigns: { depose: () => cluster.resign(), again: () => {} },
}

for (const [what, { depose, again }] of Object.entries(elections)) {
  t.test(`appends and followers ride out a leader that ${what}`, async (t) => {
    const { leader } = await byRole()
    const { store, lines } = connectReporting(t)
    const sub = followerHarness(store, `${prefix}${what}`)
    const run = sub.run()
    const writers = [1, 2, 3].map((writer) => keepAppending(store, `${what}-${writer}`))
    const count = () => writers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0)
    await waitFor(() => count() > 30, { what: 'appends before the election' })
    await depose(leader)
    t.not((await byRole()).leader, leader)
    const atElection = count()
    await waitFor(() => count() > atElection, { what: 'an append at the new leader', timeoutMs: 5_000 })
    await again(leader)
    await sleep(1_500)
    for (const writer of writers) await writer.stop()
    const acknowledged = writers.flatMap((writer) => writer.acknowledged)
    t.same(
      writers.flatMap(({ failures }) => failures),
      [],
      'no append failed',
    )
    await waitFor(() => sub.seen.length >= acknowledged.length, { what: 'all events at the follower' })
    t.same(sub.seen.toSorted(), acknowledged.map((stream) => `${stream}@0`).toSorted(), 'each event once')
    await run.stop()
    t.match(lines, [{ message: 'the event store has elected its leader', before: leader.endpoint }], 'one line')
  })
}

t.test('without a majority nothing is recorded, callers know it within 5 s, and all goes on by itself', async (t) => {
  const { followers } = await byRole()
  const { store, lines } = connectReporting(t)
  const sub = followerHarness(store, `${prefix}majority`)
  const run = sub.run()
  await appendFirst(store, `${prefix}majority-0`)
  for (const follower of followers) await follower.kill()
  for (const n of [1, 2]) {
    const begun = performance.now()
    await t.rejects(appendFirst(store, `${prefix}majority-${n}`), { code: 'event_store_unavailable' })
    t.ok(performance.now() - begun < 5_500, 'an answer after 5 s')
  }
  await t.rejects(store.head(), { code: 'event_store_unavailable' })
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
