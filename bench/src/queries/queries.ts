// `npm run bench -- queries`: the queries of the API beside bare routes and beside their SQL, with a million rows in every
// table.
import { parseArgs } from 'node:util'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import type { BenchmarkOptions, BenchmarkResult, BenchmarkRow } from '../harness/benchmark.ts'
import type { BareRoute } from './bareRoutes.ts'
import { type BenchQuery, benchQueries, isProductQuery } from './benchQueries.ts'
import { fill } from './fill.ts'
import { compareData, connections, longPauses, measureRounds, measureTimes } from './measure.ts'
import { rowsPerOwner, type Spread, spread } from './owners.ts'
import { findPgbench } from './pgbench.ts'
import { pausesRow, roundLine, roundRows, timesRow } from './report.ts'
import { type Script, sameSql } from './sameSql.ts'
import { startSystem } from './system.ts'

/** A quick run measures only one in this many queries. */
const quickStep = 6
/** At nearly the maximum rate requests queue up, and the times measure the queue. */
const headroom = 1.5

/**
 * Starts query-api and bare routes on a private Postgres with `--rows` (a million) rows per table, and a tenth of that of
 * products. Runs every query (`--only`: those whose name contains this, such as `products`) as fast as possible,
 * alternating with its bare route: `--rounds` (11) of `--round-seconds` (0.7) each. Then, for `--seconds` (10), `--rate` (200)
 * times a second, and its SQL alone with pgbench, unless the bare route hardly reaches that rate.
 * @throws Error for invalid options, and without pgbench
 */
export async function queries({ args, isQuick, env, print, stack }: BenchmarkOptions): Promise<BenchmarkResult> {
  const options = optionsOf(args, isQuick)
  const { rate, spread } = options
  const wanted = benchQueries(spread)
    .filter(({ name }) => name.includes(options.only))
    .filter((_, index) => !isQuick || index % quickStep === 0)
  if (wanted.length === 0) throw new Error(`No query has "${options.only}" in its name`)
  const { version, pgbench } = await findPgbench(env.PATH)
  const { system, scripts } = await prepare(stack, wanted, spread)
  print(`${spread.rows} rows a table, ${spread.products} products, ${connections} connections, ${version}`)
  print('Rate, and CPU time of the API process and of all processes for each request')
  const rows: BenchmarkRow[] = []
  const isFast = new Set<BenchQuery>()
  for (const [index, { query }] of scripts.entries()) {
    const measured = { system, spread, query, index }
    await compareData(measured)
    const rounds = await measureRounds(measured, options)
    print(roundLine(query, rounds))
    rows.push(...roundRows(query, rounds))
    if (rounds.every(({ bare }) => bare.perSecond > rate * headroom)) isFast.add(query)
  }
  const pausesBefore = await longPauses(system)
  for (const [index, { query, script }] of scripts.entries()) {
    if (!isFast.has(query)) continue
    const times = await measureTimes({ system, spread, query, index }, { ...options, script, pgbench })
    rows.push(timesRow(query, times, rate))
  }
  rows.push(pausesRow((await longPauses(system)) - pausesBefore, rate))
  return { postgres: system.postgres.description, rows }
}

async function prepare(stack: AsyncDisposableStack, wanted: readonly BenchQuery[], spread: Spread) {
  const log = createLog({ app: 'bench', level: 'error' })
  const scripts: { readonly query: BenchQuery; readonly script: Script }[] = []
  const bareRoutes: BareRoute[] = []
  const system = await startSystem(stack, {
    owners: spread.administrator,
    log,
    async prepare(databaseUrl) {
      const db = createPool({ databaseUrl, applicationName: 'bench', max: 1, log })
      try {
        await db.query('set statement_timeout = 0')
        const isCatalog = wanted.map((query) => isProductQuery(query, spread))
        await fill(db, spread, { owned: isCatalog.includes(false), catalog: isCatalog.includes(true) })
        for (const query of wanted) {
          const { script, bareRoute } = await sameSql(query, { db, spread, log })
          scripts.push({ query, script })
          bareRoutes.push(bareRoute)
        }
        return bareRoutes
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
      rounds: { type: 'string', default: isQuick ? '1' : '11' },
      'round-seconds': { type: 'string', default: '0.7' },
      rate: { type: 'string', default: '200' },
      only: { type: 'string', default: '' },
    },
  })
  const [rows, seconds, rate] = [Number(values.rows), Number(values.seconds), Number(values.rate)]
  const [rounds, roundSeconds] = [Number(values.rounds), Number(values['round-seconds'])]
  if (!Number.isInteger(rows / rowsPerOwner) || rows < 1) throw new Error(`--rows is a multiple of ${rowsPerOwner}`)
  if (!Number.isInteger(seconds) || seconds < 2) throw new Error('--seconds is a whole number above 1')
  if (!(Number.isInteger(rounds) && rounds > 0)) throw new Error('--rounds is a whole number above 0')
  if (!(roundSeconds > 0)) throw new Error('--round-seconds is a number above 0')
  if (!(rate > 0)) throw new Error('--rate is a number above 0')
  return { spread: spread(rows), seconds, rounds, roundSeconds, rate, only: values.only }
}
