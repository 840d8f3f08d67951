// `npm run bench -- audit-log`: what the log's tree adds to a projector, and how long a proof takes.
import { parseArgs } from 'node:util'
import { migrateAudit } from '@paylog/audit-log/migrate'
import { readModelMigrations } from '@paylog/projections/registry'
import { migrate } from '@paylog/runtime/postgres/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import { Value } from 'typebox/value'
import { type PrivateServer, startPrivateServer } from '../event-store/privateServer.ts'
import {
  type BenchmarkOptions,
  type BenchmarkResult,
  type BenchmarkRow,
  formatNumber,
  median,
  type Print,
} from '../harness/benchmark.ts'
import { startBenchmarkProgram } from '../harness/program.ts'
import { fillLog, withStore } from '../projections/fillLog.ts'
import { paymentLog } from '../projections/paymentLog.ts'
import { measureProofs } from './proofs.ts'
import { type AuditTask, AuditTaskResult } from './task.ts'

const maxShare = 5
const maxProofMs = 1_000

/**
 * Fills a private event store with `--events` payment events and a quarter as many others. The projector's time is that
 * of a replay into all read models; the tree's is measured alone, of the same events in memory, and with its own reading of the
 * log. CPU time counts, of the process and of Postgres, because other load on the machine does not change it. Then proofs are
 * made in a tree of `--leaves`.
 */
export async function auditLog({ args, isQuick, print, stack }: BenchmarkOptions): Promise<BenchmarkResult> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      events: { type: 'string', default: isQuick ? '5000' : '100000' },
      rounds: { type: 'string', default: isQuick ? '1' : '3' },
      leaves: { type: 'string', default: isQuick ? '100000' : '10000000' },
    },
  })
  const [events, rounds, leaves] = [Number(values.events), Number(values.rounds), Number(values.leaves)]
  if (![events, rounds, leaves].every((value) => Number.isInteger(value) && value > 0))
    throw new Error('--events, --rounds and --leaves are whole numbers above 0')
  const server = await startPrivateServer(stack)
  const log = createLog({ app: 'bench', level: 'error' })
  const { databaseUrl } = server.postgres
  const pool = createPool({ databaseUrl, applicationName: 'bench', max: 2, log })
  stack.defer(() => pool.end())
  await pool.query('set statement_timeout = 0')
  await migrate(pool, readModelMigrations)
  await migrateAudit(pool)
  const shares = await measureShares({ server, pool, events, rounds, print })
  const proofs = await measureProofs(pool, leaves, print)
  const target = { of: 'figure', atMost: maxProofMs } as const
  const rows: BenchmarkRow[] = [
    ...shares,
    { name: `inclusion proof at ${formatNumber(leaves)} leaves, p99`, figure: proofs.inclusionMs, unit: 'ms', target },
    {
      name: `consistency proof at ${formatNumber(leaves)} leaves, p99`,
      figure: proofs.consistencyMs,
      unit: 'ms',
      target,
    },
    { name: `root of ${formatNumber(leaves)} leaves, p99`, figure: proofs.rootMs, unit: 'ms' },
  ]
  return { postgres: server.postgres.description, rows }
}

type Sharing = {
  readonly server: PrivateServer
  readonly pool: Pool
  readonly events: number
  readonly rounds: number
  readonly print: Print
}

async function measureShares({ server, pool, events, rounds, print }: Sharing): Promise<BenchmarkRow[]> {
  const filled = await withStore(server, (store) => fillLog(store, paymentLog({ mixed: 0.25 }), events))
  print(`${formatNumber(filled.payments)} events of payments and ${formatNumber(filled.others)} others`)
  const upkeep: number[] = []
  const withReading: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await emptyReadModels(pool)
    const project = await run('project', server)
    const append = await run('append', server)
    const record = await run('record', server)
    const all = (result: AuditTaskResult) => result.cpuMicros + result.postgresMicros + result.serverMicros
    // Postgres also serves the event store, so the reading is in the projector's figure, and not in the tree's alone.
    upkeep.push((100 * (append.cpuMicros + append.postgresMicros)) / all(project))
    withReading.push((100 * all(record)) / all(project))
    for (const [name, result] of Object.entries({ project, append, record })) print(resultLine(name, result))
  }
  const count = formatNumber(filled.payments + filled.others)
  return [
    {
      name: `CPU time of the tree in a replay of ${count} events, share of the projector's`,
      figure: median(upkeep),
      unit: '%',
      target: { of: 'figure', atMost: maxShare },
    },
    { name: 'the same when the tree reads the log itself', figure: median(withReading), unit: '%' },
  ]
}

async function emptyReadModels(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('read_models.%I', projection || '_v' || version) as name from read_models.tables`,
  )
  for (const { name } of rows) await pool.query(`truncate ${name}`)
  await pool.query(
    'update read_models.checkpoints set commit_position = null, prepare_position = null, event_id = null',
  )
}

async function run(task: AuditTask, server: PrivateServer): Promise<AuditTaskResult> {
  const { postgres, connectionString } = server
  await using stack = new AsyncDisposableStack()
  const { readyMessage } = await startBenchmarkProgram(import.meta.resolve('./program.ts'), {
    env: {
      DATABASE_URL: postgres.databaseUrl,
      EVENTSTORE_URL: connectionString,
      TASK: task,
      PIDS: `${postgres.pid} ${server.pid()}`,
    },
    stack,
  })
  return Value.Parse(AuditTaskResult, readyMessage)
}

function resultLine(name: string, { ms, cpuMicros, postgresMicros, serverMicros }: AuditTaskResult): string {
  const seconds = (micros: number) => (micros / 1e6).toFixed(2)
  const cpu = `CPU ${seconds(cpuMicros)} s, Postgres ${seconds(postgresMicros)} s, event store ${seconds(serverMicros)} s`
  return `${name}: ${(ms / 1_000).toFixed(2)} s; ${cpu}`
}
