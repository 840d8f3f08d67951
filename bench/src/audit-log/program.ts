// The measured process: replays the log into all read models or into the tree, and reports its CPU time and that of Postgres.
import { setTimeout as sleep } from 'node:timers/promises'
import { runRecorder } from '@paylog/audit-log/recorder'
import { readTree } from '@paylog/audit-log/treeStore'
import { createTreeWriter, restartTree } from '@paylog/audit-log/treeWriter'
import { isAfter, type LogCheckpoint } from '@paylog/domain/events'
import { createEventStore } from '@paylog/event-store/eventStore'
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import { liveCheckpoints } from '@paylog/projections/apply/checkpoints'
import { projections } from '@paylog/projections/registry'
import { runProjection } from '@paylog/projections/runProjection'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startKeys } from '../harness/keys.ts'
import { cpuMicros, cpuMicrosOfAll } from '../harness/usage.ts'
import type { AuditTask, AuditTaskResult } from './task.ts'

const pollMs = 20
const timeoutMs = 900_000
const batchEvents = 500

const { DATABASE_URL: databaseUrl = '', EVENTSTORE_URL: connectionString = '', TASK, PIDS = '' } = process.env
const [postgresPid = 0, serverPid = 0] = PIDS.split(' ').map(Number)
const log = createLog({ app: 'bench', level: 'error' })
const pool = createPool({ databaseUrl, applicationName: 'projector', max: 2 * projections.length + 4, log })
const stack = new AsyncDisposableStack()
const keys = await startKeys(stack, { DATABASE_URL: databaseUrl })
const store = createEventStore({ connectionString, keys })
const stop = new AbortController()
const common = { databaseUrl, pool, store, signal: stop.signal, log }

/** Every read model, from the start to the end of the log. */
async function project(): Promise<void> {
  const end = await store.checkpointBefore(undefined)
  const running = projections.map((projection) => runProjection({ ...common, projection, awaited: new EventTarget() }))
  await until(async () => {
    const reached = [...(await liveCheckpoints(pool)).values()].map(({ position }) => position)
    return reached.every((position) => isReached(position, end))
  })
  stop.abort()
  await Promise.all(running)
}

/** The tree, from the start to the end of the log. */
async function record(): Promise<void> {
  const end = await store.checkpointBefore(undefined)
  const running = runRecorder({ ...common, signing: undefined })
  await until(async () => isReached((await readTree(pool)).position, end))
  stop.abort()
  await running
}

const isReached = (position: LogCheckpoint | undefined, end: LogCheckpoint | undefined) =>
  end === undefined || (position !== undefined && !isAfter(end, position))

async function until(condition: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > giveUpAt) throw new Error('The end of the log was not reached')
    await sleep(pollMs)
  }
}

/** The tree alone, of events in memory. */
async function append(events: readonly RawEvent[]): Promise<void> {
  const writer = createTreeWriter(pool)
  await writer.start()
  for (let from = 0; from < events.length; from += batchEvents) {
    const batch = events.slice(from, from + batchEvents)
    const position = batch.at(-1)?.position
    if (position !== undefined) await writer.append({ events: batch, position })
  }
}

async function rawEvents(): Promise<readonly RawEvent[]> {
  const end = await store.checkpointBefore(undefined)
  const events: RawEvent[] = []
  const read = new AbortController()
  await store.followRaw({
    name: 'bench',
    start: async () => undefined,
    handle: async (batch) => {
      events.push(...batch.events)
      if (isReached(batch.position, end)) read.abort()
    },
    maxBatch: 1_000,
    signal: read.signal,
    log,
  })
  return events
}

await restartTree(pool)
await pool.query('checkpoint')
const tasks: Readonly<Record<AuditTask, () => Promise<() => Promise<void>>>> = {
  project: async () => project,
  record: async () => record,
  append: async () => {
    const events = await rawEvents()
    return () => append(events)
  },
}
const task = await tasks[TASK as AuditTask]()
const before = { own: process.cpuUsage(), postgres: cpuMicrosOfAll(postgresPid), server: cpuMicros(serverPid) }
const begin = performance.now()
await task()
const ms = performance.now() - begin
const { user, system } = process.cpuUsage(before.own)
const result: AuditTaskResult = {
  ms,
  cpuMicros: user + system,
  postgresMicros: cpuMicrosOfAll(postgresPid) - before.postgres,
  serverMicros: cpuMicros(serverPid) - before.server,
}
await store.close()
await stack.disposeAsync()
await pool.end()
process.send?.(result, () => process.disconnect())
