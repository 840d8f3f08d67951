// `npm run bench -- queries`: how much the service adds to its SQL, with a million rows in every table.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { createLog } from '@paylog/runtime/log'
import { createPool } from '@paylog/runtime/postgres'
import { fill } from './fill.ts'
import { connections, measureQuestion, measureStep, withoutSql } from './measure.ts'
import { rowsPerOwner, type Spread, spread } from './owners.ts'
import { findPgbench } from './pgbench.ts'
import { isAboutProducts, type Question, questions } from './questions.ts'
import { apart, heading, line, type Row, sentence } from './report.ts'
import { type Script, sameSql } from './sameSql.ts'
import { startSystem } from './system.ts'

type Say = (text: string) => void

/**
 * Starts the read side on a Postgres of its own with `--rows` (a million) rows a table, and a tenth of that of products.
 * Asks every question (`--only`: those whose name contains this, such as `products`) for `--seconds` (10) through the API and then, by pgbench, of Postgres alone: first as
 * fast as the answers come, then `--rate` (200) times a second. `--json` prints everything as one object at the end.
 * @throws Error for options that make no sense, and when there is no pgbench
 */
export async function queries(args: readonly string[], given: NodeJS.ProcessEnv, say: Say): Promise<void> {
  const options = optionsOf(args)
  const asked = questions(options.spread).filter(({ name }) => name.includes(options.only))
  if (asked.length === 0) throw new Error(`No question has a name with "${options.only}" in it`)
  const { version, pgbench } = await findPgbench(given.PATH)
  const tell: Say = options.json ? () => undefined : say
  await using stack = new AsyncDisposableStack()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))

  const machine = `${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}, ${version}`
  tell(machine)
  const { system, scripts } = await prepare(stack, asked, options.spread)
  const { rows, products } = options.spread
  tell(`${rows} rows a table, ${products} products, ${connections} connections, ${options.seconds} s a run, in ms`)
  const results: object[] = []
  for (const rate of [undefined, options.rate]) {
    tell(heading(rate))
    const rows: Row[] = []
    const add = (row: Row) => {
      rows.push(row)
      tell(line(row))
    }
    const run = { ...options, system, pgbench, rate }
    for (const step of withoutSql) add(await measureStep(step, run))
    for (const [question, script] of scripts) add(await measureQuestion(question, script, run))
    tell(sentence(rows))
    results.push({ rate: rate ?? null, rows: rows.map((row) => ({ ...row, p99_apart_ms: apart(row) })) })
  }
  if (options.json) say(JSON.stringify({ machine, connections, ...options, results }, undefined, 2))
}

async function prepare(stack: AsyncDisposableStack, asked: readonly Question[], spread: Spread) {
  const log = createLog({ app: 'bench', level: 'error' })
  const scripts: [Question, Script][] = []
  const system = await startSystem(stack, {
    owners: spread.administrator,
    log,
    async prepare(databaseUrl) {
      const db = createPool({ databaseUrl, applicationName: 'bench', max: 1, log })
      try {
        await db.query('set statement_timeout = 0')
        const isCatalog = asked.map((question) => isAboutProducts(question, spread))
        await fill(db, spread, { owned: isCatalog.includes(false), catalog: isCatalog.includes(true) })
        for (const question of asked) scripts.push([question, await sameSql(question, { db, spread, log })])
      } finally {
        await db.end()
      }
    },
  })
  return { system, scripts }
}

function optionsOf(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: 'string', default: '1000000' },
      seconds: { type: 'string', default: '10' },
      rate: { type: 'string', default: '200' },
      only: { type: 'string', default: '' },
      json: { type: 'boolean', default: false },
    },
  })
  const [rows, seconds, rate] = [Number(values.rows), Number(values.seconds), Number(values.rate)]
  if (!Number.isInteger(rows / rowsPerOwner) || rows < 1) throw new Error(`--rows is a multiple of ${rowsPerOwner}`)
  if (!Number.isInteger(seconds) || seconds < 2) throw new Error('--seconds is a whole number above 1')
  if (!(rate > 0)) throw new Error('--rate is a number above 0')
  return { spread: spread(rows), seconds, rate, only: values.only, json: values.json }
}
