// `npm run bench -- rebuild`: how fast the payments projection is rebuilt, with event store and Postgres on the same
// machine.
import { parseArgs } from 'node:util'
import { readModelMigrations } from '@paylog/projections/registry'
import { migrate } from '@paylog/runtime/postgres/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startPrivateServer } from '../event-store/privateServer.ts'
import { type BenchmarkOptions, type BenchmarkResult, type BenchmarkRow, formatNumber } from '../harness/benchmark.ts'
import { type EndToEnd, measureEndToEnd, memoryRows, type Servers, speedRows } from './endToEnd.ts'
import { fillLog, paymentEvents, withStore } from './fillLog.ts'
import { paymentLog } from './paymentLog.ts'
import { measureProjectionPart, type ProjectionPart } from './projectionPart.ts'

/** Events for the projection alone, which are all in memory. */
const maxInMemory = 100_000

/**
 * Starts a private event store and fills it with `--events` (100000 and 1000000) payment events and `--mixed` (0.25)
 * times as many of other streams. Each size is read by the bare client, applied by the projector, and rebuilt
 * `--rebuilds` (3) times. The projection alone is compared with COPY in `--rounds` (10). `--only projection` skips
 * everything else.
 * @throws Error for invalid options
 */
export async function rebuild(benchmarkOptions: BenchmarkOptions): Promise<BenchmarkResult> {
  const options = optionsOf(benchmarkOptions)
  const { print } = benchmarkOptions
  const servers = await startServers(benchmarkOptions.stack)
  const { server, pool } = servers
  const log = paymentLog(options)
  const rows: BenchmarkRow[] = []
  const measured: EndToEnd[] = []
  let part: ProjectionPart | undefined
  let events = 0
  for (const size of options.sizes) {
    const begin = performance.now()
    const { payments, others } = await withStore(server, (store) => fillLog(store, log, size - events))
    const seconds = (performance.now() - begin) / 1_000
    print(
      `${formatNumber(payments)} events of payments and ${formatNumber(others)} others written in ${seconds.toFixed(0)} s`,
    )
    events += payments
    if (part === undefined) {
      const inMemory = await withStore(server, (store) => paymentEvents(store, maxInMemory))
      part = await measureProjectionPart(pool, inMemory, { ...options, print })
      rows.push(part.row)
    }
    if (options.only === 'projection') continue
    const measurement = await measureEndToEnd(servers, { ...options, events }, print)
    measured.push(measurement)
    rows.push(...speedRows(measurement, part.copyMsPerEvent))
  }
  return { postgres: server.postgres.description, rows: [...rows, ...memoryRows(measured)] }
}

async function startServers(stack: AsyncDisposableStack): Promise<Servers> {
  const server = await startPrivateServer(stack)
  const log = createLog({ app: 'bench', level: 'error' })
  const { databaseUrl } = server.postgres
  const pool = createPool({ databaseUrl, applicationName: 'bench', max: 1, log })
  stack.defer(() => pool.end())
  await pool.query('set statement_timeout = 0')
  await migrate(pool, readModelMigrations)
  return { server, pool }
}

function optionsOf({ args, isQuick }: BenchmarkOptions) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      events: { type: 'string', multiple: true, default: isQuick ? ['10000', '20000'] : ['100000', '1000000'] },
      mixed: { type: 'string', default: '0.25' },
      rebuilds: { type: 'string', default: isQuick ? '1' : '3' },
      rounds: { type: 'string', default: isQuick ? '2' : '10' },
      only: { type: 'string', default: '' },
    },
  })
  const sizes = values.events.map(Number).toSorted((a, b) => a - b)
  const [mixed, rebuilds, rounds] = [Number(values.mixed), Number(values.rebuilds), Number(values.rounds)]
  if (!sizes.every((size) => Number.isInteger(size) && size > 0)) throw new Error('--events is a whole number above 0')
  if (!(mixed >= 0)) throw new Error('--mixed is a number from 0')
  if (!(rebuilds > 0 && rounds > 0)) throw new Error('--rebuilds and --rounds are numbers above 0')
  if (!['', 'projection'].includes(values.only)) throw new Error('--only can be: projection')
  return { sizes, mixed, rebuilds, rounds, only: values.only }
}
