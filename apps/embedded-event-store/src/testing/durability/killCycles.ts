// Kills and restarts the server under load many times, and checks all acknowledged events each time.
import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import type { CrashingServer } from './crashingServer.ts'
import type { Attempt, Journal } from './journal.ts'
import { startLoadedServer } from './loadedServer.ts'
import { queryOnce } from './privatePostgres.ts'
import type { SeededRandom } from './seededRandom.ts'
import type { WriterCounts } from './writers.ts'

const killTimeoutMs = 20_000

/** A server under load that is about to be killed. */
export type Victim = { readonly kill: () => void; readonly journal: Journal; readonly random: SeededRandom }

export type KillCycles = {
  readonly seed: number
  readonly cycles: number
  readonly writerCounts: WriterCounts
  readonly databaseUrl: string
  readonly nodeDatabaseUrl: string
  /** Arranges a kill of the server. */
  readonly arrangeKill: (victim: Victim) => Promise<void> | void
  /** Whether the next server is started before the kill and waits for the lock. */
  readonly successorWaits: boolean
}

export type KillReport = {
  /** Number of appends without a reply at the time of the kill. */
  readonly inFlight: number
  /** Kills with a committed append without a reply; unknown with a successor, which may have written it. */
  readonly betweenCommitAndReply: number
}

/** Runs the cycles and asserts all guarantees of the log. */
export async function runKillCycles(t: Test, options: KillCycles): Promise<KillReport> {
  const { seed, cycles, successorWaits, databaseUrl } = options
  const { node, journal, random, check, finish } = await startLoadedServer(t, options)
  const report = { inFlight: 0, betweenCommitAndReply: 0 }
  const faults: string[] = []
  for (let cycle = 1; cycle <= cycles && faults.length === 0; cycle += 1) {
    const successor = successorWaits ? node.start() : undefined
    await killed(node, () => options.arrangeKill({ kill: node.kill, journal, random: random.fork(`kill ${cycle}`) }))
    const open = journal.open()
    report.inFlight += open.length
    if (!successorWaits && (await holdsAny(databaseUrl, open))) report.betweenCommitAndReply += 1
    await (successor ?? node.start())
    faults.push(...(await check()).map((fault) => `kill ${cycle}: ${fault}`))
  }
  t.same(faults, [], `the log is right after every restart (seed ${seed})`)
  await finish()
  t.comment(JSON.stringify(report))
  return report
}

async function killed(node: CrashingServer, arrangeKill: () => Promise<void> | void): Promise<void> {
  const before = node.kills
  await arrangeKill()
  await waitFor(() => node.kills > before, { what: 'the moment to kill the server', timeoutMs: killTimeoutMs })
  await node.gone()
}

async function holdsAny(databaseUrl: string, attempts: readonly Attempt[]): Promise<boolean> {
  const ids = attempts.flatMap(({ events }) => events.slice(0, 1).map(({ id }) => id))
  const text = 'select 1 from event_store.events where event_id = any($1::uuid[]) limit 1'
  return (await queryOnce(databaseUrl, text, [ids])).length === 1
}

/** A random delay of some milliseconds. */
export function soon(random: SeededRandom, mostMs: number, act: () => void): void {
  void sleep(random.between(0, mostMs)).then(act)
}
