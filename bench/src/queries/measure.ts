// Measures one query: through the API and through its bare route, and at a fixed rate beside its SQL alone.
import { isDeepStrictEqual } from 'node:util'
import { alternateRounds, type Figures, figures } from '../harness/benchmark.ts'
import { measureLoad } from '../harness/load.ts'
import { seededRandom } from '../harness/seededRandom.ts'
import { cpuMicros, cpuMicrosOfAll } from '../harness/usage.ts'
import { type BenchQuery, rowsOf, subjectOf } from './benchQueries.ts'
import { type Spread, sessionOf } from './owners.ts'
import type { Pgbench } from './pgbench.ts'
import type { Script } from './sameSql.ts'
import type { MeasuredSystem, Side } from './system.ts'

export const connections = 8
const seed = 1
const warmUpSeconds = 2

export type Round = {
  readonly perSecond: number
  /** Of the API process, for each request. */
  readonly apiMicros: number
  /** Of all processes but the one that sends the requests. */
  readonly allMicros: number
}
export type Rounds = readonly { readonly ours: Round; readonly bare: Round }[]

export type Measured = {
  readonly system: MeasuredSystem
  readonly spread: Spread
  readonly query: BenchQuery
  /** Of the bare route. */
  readonly index: number
}

function requestsOf({ query, spread }: Measured, prefix: string): () => string {
  const random = seededRandom(seed)
  return () => {
    const { owner, path } = subjectOf(1 + Math.floor(random() * rowsOf(query, spread)), query, spread)
    const session = sessionOf(owner)
    return `GET ${prefix}${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${session}\r\n\r\n`
  }
}

/** @throws Error when the bare route responds with other data than the API, so that both do the same work */
export async function compareData({ system, query, spread, index }: Measured): Promise<void> {
  const { owner, path } = subjectOf(1, query, spread)
  const headers = { authorization: `Bearer ${sessionOf(owner)}` }
  const urls = [`http://127.0.0.1:${system.api.port}${path}`, `http://127.0.0.1:${system.bare.port}/${index}${path}`]
  const bodies = await Promise.all(urls.map(async (url) => (await fetch(url, { headers })).json()))
  const [ours, bare] = bodies.map((body) => Object(body).data)
  if (!isDeepStrictEqual(ours, bare)) throw new Error(`${query.name}: the bare route responds with other data`)
}

/** Alternates the API with the bare route, as fast as possible. @throws Error when a response is not 200 */
export async function measureRounds(
  measured: Measured,
  { rounds, roundSeconds }: { readonly rounds: number; readonly roundSeconds: number },
): Promise<Rounds> {
  const { system, index } = measured
  const others = () => cpuMicros(system.identity.pid) + cpuMicrosOfAll(system.postgres.pid)
  const round = async ({ pid, port }: Side, prefix: string, seconds: number): Promise<Round> => {
    const [ownBefore, othersBefore, begin] = [cpuMicros(pid), others(), performance.now()]
    const load = { port, connections, seconds, rate: undefined }
    const times = await measureLoad(load, requestsOf(measured, prefix), Math.random)
    const elapsedMs = performance.now() - begin
    const own = cpuMicros(pid) - ownBefore
    return {
      perSecond: (times.length * 1_000) / elapsedMs,
      apiMicros: own / times.length,
      allMicros: (own + others() - othersBefore) / times.length,
    }
  }
  const ours = (seconds: number) => round(system.api, '', seconds)
  const bare = (seconds: number) => round(system.bare, `/${index}`, seconds)
  // Query plans are made and code is compiled.
  await ours(warmUpSeconds)
  await bare(warmUpSeconds)
  // Short, so that other load on the machine affects both sides of a round.
  return await alternateRounds(
    rounds,
    () => ours(roundSeconds),
    () => bare(roundSeconds),
  )
}

/** At `rate` requests a second, the API first, then its SQL alone. @throws Error when one fails */
export async function measureTimes(
  measured: Measured,
  run: { readonly script: Script; readonly pgbench: Pgbench; readonly seconds: number; readonly rate: number },
): Promise<{ readonly service: Figures; readonly sql: Figures }> {
  const { system } = measured
  const load = { port: system.api.port, connections, seconds: run.seconds, rate: run.rate }
  const service = figures(await measureLoad(load, requestsOf(measured, ''), seededRandom(seed)))
  const sql = figures(await run.pgbench(run.script, { ...run, databaseUrl: system.postgres.databaseUrl, connections }))
  return { service, sql }
}

/** Garbage collections of the API process that paused it for more than 5 ms, since its start. */
export async function longPauses({ api }: MeasuredSystem): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${api.port}/metrics`)).text()
  const sum = (pattern: RegExp) => [...page.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0)
  return (
    sum(/^nodejs_gc_duration_seconds_count\{.*\} (\d+)$/gm) -
    sum(/^nodejs_gc_duration_seconds_bucket\{le="0.005",.*\} (\d+)$/gm)
  )
}
