// `npm run bench -- queries`: the overhead of the API over its SQL, with a million rows in every table.
import { parseArgs } from 'node:util'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import type { BenchmarkOptions, BenchmarkResult, BenchmarkRow } from '../harness/benchmark.ts'
import { type BenchQuery, benchQueries, isProductQuery } from './benchQueries.ts'
import { fill } from './fill.ts'
import { connections, measureQuery, measureStep, withoutSql } from './measure.ts'
import { rowsPerOwner, type Spread, spread } from './owners.ts'
import { findPgbench } from './pgbench.ts'
import { heading, line, type Measured, rowsOf } from './report.ts'
import { type Script, sameSql } from './sameSql.ts'
import { startSystem } from './system.ts'

/** A quick run measures only one in this many queries. */
const quickStep = 6
/** At nearly the maximum rate of Postgres requests queue up, and the times measure the queue. */
const headroom = 1.5

/**
 * Starts query-api on a private Postgres with `--rows` (a million) rows per table, and a tenth of that of products.
 * Runs every query (`--only`: those whose name contains this, such as `products`) for `--seconds` (10) through the API,
 * then its SQL alone with pgbench: first as fast as possible, then `--rate` (200) times a second, unless Postgres alone
 * hardly reaches that rate.
 * @throws Error for invalid options, and without pgbench
 */
export async function queries({ args, isQuick, env, print, stack }: BenchmarkOptions): Promise<BenchmarkResult> {
  const options = optionsOf(args, isQuick)
  const wanted = benchQueries(options.spread)
    .filter(({ name }) => name.includes(options.only))
    .filter((_, index) => !isQuick || index % quickStep === 0)
  if (wanted.length === 0) throw new Error(`No query has "${options.only}" in its name`)
  const { version, pgbench } = await findPgbench(env.PATH)
  const { system, scripts } = await prepare(stack, wanted, options.spread)
  const { rows: filled, products } = options.spread
  print(
    `${filled} rows a table, ${products} products, ${connections} connections, ${options.seconds} s a run, in ms, ${version}`,
  )
  const rows: BenchmarkRow[] = []
  const sqlPerSecond = new Map<BenchQuery, number>()
  for (const rate of [undefined, options.rate]) {
    print(heading(rate))
    const add = (measured: Measured) => {
      rows.push(...rowsOf(measured, rate))
      print(line(measured))
    }
    const run = { ...options, system, pgbench, rate }
    for (const step of withoutSql) add(await measureStep(step, run))
    for (const [query, script] of scripts) {
      if (rate !== undefined && (sqlPerSecond.get(query) ?? 0) < rate * headroom) continue
      const measured = await measureQuery(query, script, run)
      sqlPerSecond.set(query, measured.sql?.perSecond ?? 0)
      add(measured)
    }
  }
  return { postgres: system.postgres.description, rows }
}

async function prepare(stack: AsyncDisposableStack, wanted: readonly BenchQuery[], spread: Spread) {
  const log = createLog({ app: 'bench', level: 'error' })
  const scripts: [BenchQuery, Script][] = []
  const system = await startSystem(stack, {
    owners: spread.administrator,
    log,
    async prepare(databaseUrl) {
      const db = createPool({ databaseUrl, applicationName: 'bench', max: 1, log })
      try {
        await db.query('set statement_timeout = 0')
        const isCatalog = wanted.map((query) => isProductQuery(query, spread))
        await fill(db, spread, { owned: isCatalog.includes(false), catalog: isCatalog.includes(true) })
        for (const query of wanted) scripts.push([query, await sameSql(query, { db, spread, log })])
      } finally {
        await db.end()
      }
    },
  })
  return { system, scripts }
}

function optionsOf(args: readonly string[], isQuick: boolean) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string', default: isQuick ? '20000' : '1000000' },
      seconds: { type: 'string', default: isQuick ? '2' : '10' },
      rate: { type: 'string', default: '200' },
      only: { type: 'string', default: '' },
    },
  })
  const [rows, seconds, rate] = [Number(values.rows), Number(values.seconds), Number(values.rate)]
  if (!Number.isInteger(rows / rowsPerOwner) || rows < 1) throw new Error(`--rows is a multiple of ${rowsPerOwner}`)
  if (!Number.isInteger(seconds) || seconds < 2) throw new Error('--seconds is a whole number above 1')
  if (!(rate > 0)) throw new Error('--rate is a number above 0')
  return { spread: spread(rows), seconds, rate, only: values.only }
}
