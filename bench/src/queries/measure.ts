// Measures one query, or one step before any SQL.

import { figures } from '../harness/benchmark.ts'
import { measureLoad } from '../harness/load.ts'
import { seededRandom } from '../harness/seededRandom.ts'
import { type BenchQuery, rowsOf, subjectOf } from './benchQueries.ts'
import { type Spread, sessionOf } from './owners.ts'
import type { Pgbench } from './pgbench.ts'
import type { Measured } from './report.ts'
import type { Script } from './sameSql.ts'
import type { MeasuredSystem } from './system.ts'

export const connections = 8
const seed = 1

/** Shared by all measurements of a round. */
export type Run = {
  readonly system: MeasuredSystem
  readonly spread: Spread
  readonly seconds: number
  readonly rate: number | undefined
  readonly pgbench: Pgbench
}

export type Step = {
  readonly name: string
  readonly at: 'apiPort' | 'identityPort'
  readonly request: (session: string) => string
  readonly expectedStatus?: number
}

const get = (path: string, session: string) =>
  `GET ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${session}\r\n\r\n`

/** The cost of a request before any SQL. */
export const withoutSql: readonly Step[] = [
  { name: 'nothing but HTTP (/health/live)', at: 'apiPort', request: (session) => get('/health/live', session) },
  {
    name: 'the identity backend alone',
    at: 'identityPort',
    request: (sessionId) => {
      const body = JSON.stringify({ sessionId })
      const head = `host: bench\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
      return `POST /auth/payments/validate HTTP/1.1\r\n${head}\r\n\r\n${body}`
    },
  },
  {
    name: 'a caller, no SQL (404 for an invalid id)',
    at: 'apiPort',
    request: (session) => get('/payments/no-id', session),
    expectedStatus: 404,
  },
]

export async function measureStep(
  { name, at, request, ...expected }: Step,
  { system, spread, ...run }: Run,
): Promise<Measured> {
  const random = seededRandom(seed)
  const next = () => request(sessionOf(1 + Math.floor(random() * spread.ordinary)))
  const load = { ...run, ...expected, port: system[at], connections }
  return { name, service: figures(await measureLoad(load, next, seededRandom(seed))) }
}

/** The API first, then its SQL alone. @throws Error when a response is not 200 or a statement fails */
export async function measureQuery(query: BenchQuery, script: Script, { pgbench, ...run }: Run): Promise<Measured> {
  const { system, spread } = run
  const random = seededRandom(seed)
  const next = () => {
    const { owner, path } = subjectOf(1 + Math.floor(random() * rowsOf(query, spread)), query, spread)
    return get(path, sessionOf(owner))
  }
  const service = figures(await measureLoad({ ...run, port: system.apiPort, connections }, next, seededRandom(seed)))
  const sql = figures(await pgbench(script, { ...run, databaseUrl: system.postgres.databaseUrl, connections }))
  return { name: query.name, service, sql }
}
