// `npm run bench -- admin-payments`: the administrators' list and its searches, with a million payments.
import { parseArgs } from 'node:util'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { type BenchmarkOptions, type BenchmarkResult, type BenchmarkRow, quantile } from '../harness/benchmark.ts'
import { fill } from './fill.ts'
import { idOf, type Spread, sessionOf, spread, userId } from './owners.ts'
import { startSystem } from './system.ts'

type AdminQuery = {
  readonly name: string
  /** The path and query of the request with this number. */
  readonly path: (request: number, data: Spread) => string
  readonly atMostMs?: number
}

const pageMs = 10
const searchMs = 20
const reportMs = 300
const requests = 60

/** Rows all over the table. */
const rowOf = (request: number, { rows }: Spread) => 1 + ((request * 179_424_673) % (rows - 1))
const search = (text: string) => `/admin/payments?search=${encodeURIComponent(text)}`

const adminQueries: readonly AdminQuery[] = [
  { name: 'first page', path: () => '/admin/payments', atMostMs: pageMs },
  { name: 'first page, orderBy=updated_at', path: () => '/admin/payments?orderBy=updated_at', atMostMs: pageMs },
  { name: 'first page, orderBy=amount_cents', path: () => '/admin/payments?orderBy=amount_cents', atMostMs: pageMs },
  { name: 'search by id', path: (n, data) => search(idOf('payment', rowOf(n, data))), atMostMs: searchMs },
  {
    name: 'search by e-mail',
    path: (n, data) => search(`user${1 + (rowOf(n, data) % data.ordinary)}@example.com`),
    atMostMs: searchMs,
  },
  { name: 'search by reference', path: (n, data) => search(`R-${rowOf(n, data)}`), atMostMs: searchMs },
  { name: 'search by the beginning of an id', path: (n, data) => search(idOf('payment', rowOf(n, data)).slice(0, 13)), atMostMs: searchMs },
  { name: 'search by amount', path: (n) => search(`${1000 + n}.00 EUR`), atMostMs: searchMs },
  { name: 'search by words, a rare one', path: (n, data) => search(`order ${rowOf(n, data)}`) },
  { name: 'search by words, common ones', path: () => search('winter shoes') },
  { name: 'of one user', path: (n) => `/admin/payments?user_id=${userId(1 + n)}` },
  { name: 'status=failed', path: () => '/admin/payments?status=failed' },
  { name: 'attention=true, none', path: () => '/admin/payments?attention=true' },
  // Of one payment a minute, six of ten of which succeeded.
  { name: 'report of 100,000', path: () => '/admin/reports?from=2024-03-01&to=2024-06-25', atMostMs: reportMs },
]

/** Sends each query 60 times, one at a time, to query-api. @throws Error for any option: it has none */
export async function adminPayments({ args, isQuick, stack, print }: BenchmarkOptions): Promise<BenchmarkResult> {
  parseArgs({ args: [...args], options: {} })
  const data = spread(isQuick ? 20_000 : 1_000_000)
  const log = createLog({ app: 'bench', level: 'error' })
  const system = await startSystem(stack, {
    owners: data.administrator,
    log,
    async prepare(databaseUrl) {
      const db = createPool({ databaseUrl, applicationName: 'bench', max: 1, log })
      await db.query('set statement_timeout = 0')
      await fill(db, data, { owned: true, catalog: false }).finally(() => db.end())
      return []
    },
  })
  const rows: BenchmarkRow[] = []
  for (const { name, path, atMostMs } of adminQueries) {
    const times: number[] = []
    for (let request = 0; request < requests; request++) {
      const url = `http://127.0.0.1:${system.api.port}${path(request, data)}`
      times.push(await timeOf(url, { 'x-session-id': sessionOf(data.administrator) }))
    }
    print(`${name}: p50 ${quantile(times, 0.5).toFixed(1)} ms, p95 ${quantile(times, 0.95).toFixed(1)} ms`)
    const target = atMostMs === undefined ? {} : { target: { of: 'figure', atMost: atMostMs } as const }
    rows.push({ name: `administrators' payments, ${name}, p50`, figure: quantile(times, 0.5), unit: 'ms', ...target })
  }
  return { postgres: system.postgres.description, rows }
}

/** @returns the time to the whole response, in ms @throws Error for another status than 200 */
async function timeOf(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const startedAt = performance.now()
  const response = await fetch(url, { headers })
  await response.text()
  if (response.status !== 200) throw new Error(`${url} returned ${response.status}`)
  return performance.now() - startedAt
}
