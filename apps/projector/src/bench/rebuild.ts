// `npm run bench -- rebuild`: how fast payments are made again from the log, with the log and Postgres beside.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { startPrivateNode } from '@paylog/event-store-node/bench/privateNode'
import { readModelMigrations } from '@paylog/projections/migrate'
import { createLog } from '@paylog/runtime/log'
import { createPool, migrate } from '@paylog/runtime/postgres'
import type { Pool } from 'pg'
import { type Beside, measureEndToEnd, sayMemory, saySpeed } from './endToEnd.ts'
import { fillLog, paymentEvents, withStore } from './fillLog.ts'
import { paymentLog } from './paymentLog.ts'
import { measureProjectionPart, sayProjectionPart } from './projectionPart.ts'
import { number } from './report.ts'
import type { TookBeside } from './task.ts'

type Say = (text: string) => void

/** Events of the projection alone; they are in memory together. */
const mostInMemory = 100_000

/**
 * Starts a private node and fills it with payments, `--events` (100000 and 1000000) of theirs and `--mixed` (0.25) times as
 * many of other streams. Each size is read by the bare client, applied by the projector, and rebuilt `--rebuilds` (3) times;
 * the projection alone is measured in `--rounds` (10) beside COPY. `--only projection` leaves out everything else.
 * @throws Error for options that make no sense
 */
export async function rebuild(args: readonly string[], say: Say): Promise<void> {
  const options = optionsOf(args)
  await using stack = new AsyncDisposableStack()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))
  const beside = await startBeside(stack)
  const { node, pool } = beside
  say(
    `${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}, ${await postgresVersion(pool)}`,
  )
  say(`a node of its own, and the read models, on Postgres with ${node.settings}`)
  const made = paymentLog(options)
  const rebuilt: TookBeside[] = []
  let events = 0
  for (const size of options.sizes) {
    const begin = performance.now()
    const { payments, others } = await withStore(node, (store) => fillLog(store, made, size - events))
    const seconds = (performance.now() - begin) / 1_000
    say(`${number(payments)} events of payments and ${number(others)} others are written, in ${seconds.toFixed(0)} s`)
    events += payments
    if (rebuilt.length === 0) {
      const inMemory = await withStore(node, (store) => paymentEvents(store, mostInMemory))
      sayProjectionPart(inMemory.length, await measureProjectionPart(pool, inMemory, options.rounds), say)
    }
    if (options.only !== 'projection') rebuilt.push(await measureEndToEnd(beside, { ...options, events }, say))
  }
  saySpeed(rebuilt, say)
  sayMemory(rebuilt, say)
}

async function startBeside(stack: AsyncDisposableStack): Promise<Beside> {
  const node = await startPrivateNode()
  stack.defer(node.stop)
  const log = createLog({ app: 'bench', level: 'error' })
  const pool = createPool({ databaseUrl: node.databaseUrl, applicationName: 'bench', max: 1, log })
  stack.defer(() => pool.end())
  await pool.query('set statement_timeout = 0')
  await migrate(pool, readModelMigrations)
  return { node, pool }
}

async function postgresVersion(pool: Pool): Promise<string> {
  const { rows } = await pool.query<{ version: string }>(`select current_setting('server_version') as version`)
  return `Postgres ${rows[0]?.version}`
}

function optionsOf(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      events: { type: 'string', multiple: true, default: ['100000', '1000000'] },
      mixed: { type: 'string', default: '0.25' },
      rebuilds: { type: 'string', default: '3' },
      rounds: { type: 'string', default: '10' },
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
