// A store on a cluster, with its log lines, and appends that go on during an election.
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestCluster, TestNode } from '@paylog/testing/cluster/startCluster'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { createEventStore, type EventStore } from '../eventStore.ts'
import { appendFirst } from './eventStoreHarness.ts'
import { followerHarness } from './followerHarness.ts'
import { memoryKeys } from './memoryKeys.ts'

/** Of a cluster whose elections are short. */
export const quickElections = { 'silence-ms': 1_500, 'election-ms': 300, 'step-down-ms': 1_000 }

export const prefix = 'guestToken-'

type Line = { readonly message: string; readonly [detail: string]: unknown }

/** A store with the limits of production, and what it logs. */
export function connectReporting(t: Test, { connectionString }: TestCluster) {
  const lines: Line[] = []
  const keep = (detail: object, message: string) => void lines.push({ ...detail, message })
  const log = { info: keep, warn: keep, error: keep }
  const store = createEventStore({ connectionString, keys: memoryKeys(), log })
  t.teardown(() => store.close())
  return { store, lines }
}

export async function byRole(cluster: TestCluster) {
  const leader = cluster.nodes[await cluster.leader()]
  const followers = cluster.nodes.filter((node) => node !== leader)
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

export type Act = (leader: TestNode) => unknown

/**
 * Appends and follows while the leader is deposed: no append fails, the follower gets each event once, and the log has a line.
 * @param again brings the former leader back
 */
export async function rideOut(
  t: Test,
  cluster: TestCluster,
  what: string,
  { depose, again }: { depose: Act; again: Act },
) {
  const { leader } = await byRole(cluster)
  const { store, lines } = connectReporting(t, cluster)
  const sub = followerHarness(store, `${prefix}${what}`)
  const run = sub.run()
  const writers = [1, 2, 3].map((writer) => keepAppending(store, `${what}-${writer}`))
  const count = () => writers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0)
  await waitFor(() => count() > 30, { what: 'appends before the election' })
  await depose(leader)
  t.not((await byRole(cluster)).leader, leader)
  const atElection = count()
  await waitFor(() => count() > atElection, { what: 'an append at the new leader', timeoutMs: 5_000 })
  await again(leader)
  await sleep(1_500)
  for (const writer of writers) await writer.stop()
  const acknowledged = writers.flatMap((writer) => writer.acknowledged)
  const failures = writers.flatMap((writer) => writer.failures)
  t.same(failures, [], 'no append failed')
  await waitFor(() => sub.seen.length >= acknowledged.length, { what: 'all events at the follower' })
  t.same(sub.seen.toSorted(), acknowledged.map((stream) => `${stream}@0`).toSorted(), 'each event once')
  await run.stop()
  t.match(lines, [{ message: 'the event store has elected its leader', before: leader.endpoint }], 'one line')
}
