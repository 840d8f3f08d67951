// The measured process: runs one task, reports the result, and exits.
import { setTimeout as sleep } from 'node:timers/promises'
import { isAfter } from '@paylog/domain/events'
import { createEventStore } from '@paylog/event-store/eventStore'
import { liveCheckpoint } from '@paylog/projections/apply/checkpoints'
import { payments } from '@paylog/projections/payments/projection'
import { rebuild } from '@paylog/projections/rebuild/rebuild'
import { runProjection } from '@paylog/projections/runProjection'
import { dropTable, liveTable, tableName } from '@paylog/projections/tables/tables'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { catchUp } from '../event-store/reads.ts'
import { startKeys } from '../harness/keys.ts'
import type { Task, TaskResult } from './task.ts'

const pollMs = 20
const timeoutMs = 600_000

const { DATABASE_URL: databaseUrl = '', EVENTSTORE_URL: connectionString = '', TASK, EVENTS } = process.env
const log = createLog({ app: 'bench', level: 'error' })
const pool = createPool({ databaseUrl, applicationName: 'projector', max: 4, log })
const stack = new AsyncDisposableStack()
const keys = await startKeys(stack, { DATABASE_URL: databaseUrl })
const store = createEventStore({ connectionString, keys })
const stop = new AbortController()
const common = { databaseUrl, pool, store, projection: payments, signal: stop.signal, log }
const phases: Record<string, number> = {}

/** The client alone, with the same filter. */
async function read(): Promise<number> {
  return (await catchUp(store.client, Number(EVENTS), payments.streamPrefixes)).events
}

/** The projector, from the start to the end of the log. */
async function live(): Promise<number> {
  const version = (await liveTable(pool, payments))?.version ?? 1
  await pool.query(`truncate read_models.${tableName(payments, version)}`)
  await pool.query(
    'update read_models.checkpoints set commit_position = null, prepare_position = null, event_id = null',
  )
  const end = await store.head()
  const running = runProjection({ ...common, awaited: new EventTarget() })
  const giveUpAt = performance.now() + timeoutMs
  for (;;) {
    const position = (await liveCheckpoint(pool, payments.name))?.position
    if (position !== undefined && (end === undefined || !isAfter(end, position))) break
    if (performance.now() > giveUpAt) throw new Error(`The projector only reached ${position?.commit}`)
    await sleep(pollMs)
  }
  stop.abort()
  await running
  return Number(EVENTS)
}

/** Times each phase and drops the replaced table. */
async function rebuildOnce(): Promise<number> {
  let entered = { phase: '', at: performance.now() }
  const enter = (phase: string) => {
    const at = performance.now()
    if (entered.phase !== '') phases[entered.phase] = (phases[entered.phase] ?? 0) + at - entered.at
    entered = { phase, at }
  }
  const { events, replaced } = await rebuild({
    ...common,
    onProgress: ({ step }) => {
      if (step !== entered.phase) enter(step)
    },
  })
  enter('')
  if (replaced !== undefined) await dropTable(pool, payments, replaced.version)
  return events
}

const tasks: Readonly<Record<Task, () => Promise<number>>> = { read, live, rebuild: rebuildOnce }
const task = tasks[TASK as Task]
const before = process.cpuUsage()
const begin = performance.now()
const events = await task()
const ms = performance.now() - begin
const { user, system } = process.cpuUsage(before)
const peakMiB = process.resourceUsage().maxRSS / 1_024
const result: TaskResult = { events, ms, cpuMicros: user + system, peakMiB, phases }
await store.close()
await stack.disposeAsync()
await pool.end()
process.send?.(result, () => process.disconnect())
