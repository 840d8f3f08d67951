// `npm run bench -- idle`: what the local system takes without requests, and what events cost that no read model shows.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { DataKeys } from '@paylog/event-store/codec/dataKeys'
import type { Runtime } from '@paylog/runtime/process/runtimeFile'
import pg from 'pg'
import type { BenchmarkOptions, BenchmarkResult, BenchmarkRow, Print } from '../harness/benchmark.ts'
import { startKeys } from '../harness/keys.ts'
import { describePostgres } from '../harness/privatePostgres.ts'
import { startPrivateSystem } from '../harness/privateSystem.ts'
import { cpuMicros, cpuMicrosOfAll } from '../harness/usage.ts'
import { appendEvents, withStore } from '../projections/fillLog.ts'
import { notification } from '../projections/otherStreams.ts'
import { createRandom } from '../projections/random.ts'

const maxIdlePercent = 2
/** Work of the start, such as compilation, goes on after the processes are ready. */
const quietPercent = 10
const quietWindowMs = 5_000
const maxStartMs = 120_000
const eventsPerSecond = 50
const shownBackends = 6

/** CPU time by process, in microseconds. */
type CpuTimes = ReadonlyMap<string, number>

/**
 * Starts a private system and measures it twice for a minute: at rest, and while 50 unrelated events a second are appended.
 * @throws Error for any option: it has none
 */
export async function idle({ args, isQuick, print, stack }: BenchmarkOptions): Promise<BenchmarkResult> {
  parseArgs({ args: [...args], options: {} })
  const durationMs = isQuick ? 5_000 : 60_000
  const system = await startPrivateSystem(stack, {})
  const { DATABASE_URL = '', EVENTSTORE_URL: connectionString = '' } = system.environment
  const keys = await startKeys(stack, system.environment)
  const database = new pg.Client({ connectionString: DATABASE_URL, application_name: 'benchmark' })
  await database.connect()
  stack.defer(() => database.end())
  await untilQuiet(system, print)

  const rest = await percentages(system, database, () => sleep(durationMs))
  report(print, 'at rest', rest)
  const writesBefore = await checkpointWrites(database)
  const busy = await percentages(system, database, () => appendUnrelated({ connectionString, keys }, durationMs))
  report(print, `with ${eventsPerSecond} unrelated events a second`, busy)
  const writes = (await checkpointWrites(database)) - writesBefore
  const { description } = await describePostgres(DATABASE_URL)
  return {
    postgres: description,
    rows: [
      ...rest.services.map(([name, figure]): BenchmarkRow => ({ name: `at rest: ${name}`, figure, unit: '%' })),
      {
        name: 'at rest: all processes',
        figure: sumOf(rest.services),
        unit: '%',
        target: { of: 'figure', atMost: maxIdlePercent },
      },
      { name: `${eventsPerSecond} unrelated events a second: all processes`, figure: sumOf(busy.services), unit: '%' },
      {
        name: `${eventsPerSecond} unrelated events a second: writes of checkpoints`,
        figure: (writes * 1_000) / durationMs,
        unit: '/s',
      },
    ],
  }
}

/** Appends notifications about foreign payments, which no read model shows. */
async function appendUnrelated(
  log: { readonly connectionString: string; readonly keys: DataKeys },
  durationMs: number,
): Promise<void> {
  await withStore(log, async (store) => {
    const random = createRandom(1)
    const begin = performance.now()
    for (let events = 0; performance.now() < begin + durationMs; ) {
      const appending = notification(Date.now(), random)
      await appendEvents(store, appending)
      events += appending.events.length
      await sleep(Math.max(0, begin + (events * 1_000) / eventsPerSecond - performance.now()))
    }
  })
}

/** @throws Error when the system is still busy after two minutes */
async function untilQuiet(system: Runtime, print: Print): Promise<void> {
  for (const giveUpAt = performance.now() + maxStartMs; performance.now() < giveUpAt; ) {
    const before = cpuOfServices(system)
    await sleep(quietWindowMs)
    const percent = sumOf(percentOf(before, cpuOfServices(system), quietWindowMs))
    print(`after the start: ${percent.toFixed(1)} % of a core`)
    if (percent < quietPercent) return
  }
  throw new Error(`The system took more than ${quietPercent} % of a core for ${maxStartMs} ms after its start`)
}

/** Shares of a core while `work` runs: of each service, and of each connection to Postgres. */
async function percentages(system: Runtime, database: pg.Client, work: () => Promise<unknown>) {
  const begin = performance.now()
  const [services, backends] = [cpuOfServices(system), await cpuOfBackends(database)]
  await work()
  const durationMs = performance.now() - begin
  return {
    services: percentOf(services, cpuOfServices(system), durationMs),
    backends: percentOf(backends, await cpuOfBackends(database), durationMs),
  }
}

/** The service `postgres` includes the server and its backends. */
function cpuOfServices({ pid, parts }: Runtime): CpuTimes {
  return new Map([
    ['supervisor', cpuMicros(pid)],
    ...parts.map((part) => [part.name, cpuMicrosOfAll(part.pid)] as const),
  ])
}

async function cpuOfBackends(database: pg.Client): Promise<CpuTimes> {
  const { rows } = await database.query<{ pid: number; name: string }>(
    `select pid, coalesce(nullif(application_name, ''), backend_type, 'Postgres') as name from pg_stat_activity`,
  )
  return new Map(rows.map(({ pid, name }) => [`backend ${pid} of ${name}`, cpuMicros(pid)]))
}

/** The highest first. */
function percentOf(
  before: CpuTimes,
  after: CpuTimes,
  durationMs: number,
): (readonly [name: string, percent: number])[] {
  return [...after]
    .map(([name, micros]) => [name, (micros - (before.get(name) ?? micros)) / (durationMs * 10)] as const)
    .toSorted(([, a], [, b]) => b - a)
}

const sumOf = (shares: readonly (readonly [string, number])[]) => shares.reduce((sum, [, percent]) => sum + percent, 0)

function report(print: Print, when: string, { services, backends }: Awaited<ReturnType<typeof percentages>>): void {
  print(`${when}, % of a core:`)
  for (const [name, percent] of [...services, ...backends.slice(0, shownBackends)])
    print(`  ${percent.toFixed(2)} ${name}`)
}

async function checkpointWrites(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ writes: number }>(
    `select n_tup_upd::int as writes from pg_stat_user_tables where schemaname = 'read_models' and relname = 'checkpoints'`,
  )
  return rows[0]?.writes ?? Number.NaN
}
