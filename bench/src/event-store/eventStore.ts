// `npm run bench -- event-store`: throughput of appends and reads, client included.
import { parseArgs } from 'node:util'
import { EventStoreDBClient } from '@eventstore/db-client'
import {
  alternateRounds,
  type BenchmarkOptions,
  type BenchmarkResult,
  type BenchmarkRow,
  measureRate,
  quantile,
  summarizeRounds,
} from '../harness/benchmark.ts'
import { startPrivatePostgres } from '../harness/privatePostgres.ts'
import { appendOne } from './appends.ts'
import { createBareTable } from './bareTable.ts'
import { startPrivateServer } from './privateServer.ts'
import { type Measured, memorySamples, startOf, startRow, wholeLog } from './wholeLog.ts'

const depths = [1, 16, 64, 256]
const targetAppends = new Map([
  [1, 900],
  [64, 4_500],
])
const rounds = 4

/**
 * Measures a private event store, or any server with `--url esdb://…`. Appends at several depths for `--seconds` (5)
 * each, compared with bare inserts. Then a log of `--events` events (a million): memory while it grows, reading,
 * catching up, starting.
 * @throws Error for invalid options
 */
export async function eventStore(options: BenchmarkOptions): Promise<BenchmarkResult> {
  const { url, events, seconds } = optionsOf(options)
  const { print, stack } = options
  const server = url === undefined ? await startPrivateServer(stack) : undefined
  const postgres = server?.postgres ?? (await startPrivatePostgres(stack))
  const bare = await createBareTable(postgres.databaseUrl, stack)
  const client = EventStoreDBClient.connectionString(url ?? server?.connectionString ?? '')
  stack.defer(() => client.dispose())
  const measured: Measured = { client, server, bare, print }
  const startEmptyMs = server && (await startOf(server))
  const rows = [...(await appends(measured, seconds * 1_000)), ...(await wholeLog(measured, events))]
  if (server !== undefined && startEmptyMs !== undefined) rows.push(await startRow(server, events, startEmptyMs))
  return { postgres: postgres.description, rows }
}

function optionsOf({ args, isQuick }: BenchmarkOptions) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      url: { type: 'string' },
      events: { type: 'string', default: isQuick ? '20000' : '1000000' },
      seconds: { type: 'string', default: isQuick ? '1' : '5' },
    },
  })
  const events = Number(values.events)
  const seconds = Number(values.seconds)
  if (!Number.isInteger(events) || events < memorySamples) throw new Error(`--events is at least ${memorySamples}`)
  if (!(seconds > 0)) throw new Error('--seconds is a number above 0')
  return { url: values.url, events, seconds }
}

async function appends({ client, bare, print }: Measured, durationMs: number): Promise<BenchmarkRow[]> {
  const rows: BenchmarkRow[] = []
  await measureRate(() => appendOne(client), { inFlight: 64, durationMs: durationMs / 2 })
  for (const inFlight of depths) {
    const each = { inFlight, durationMs: durationMs / rounds }
    const measured = await alternateRounds(
      rounds,
      () => measureRate(() => appendOne(client), each),
      () => measureRate(bare.insertOne, each),
    )
    const times = measured.flatMap(({ ours }) => ours.times)
    const [p50, p99] = [quantile(times, 0.5).toFixed(1), quantile(times, 0.99).toFixed(1)]
    print(
      `appends of one event of 400 bytes, each to a new stream, ${inFlight} in flight: p50 ${p50} ms, p99 ${p99} ms`,
    )
    const rates = measured.map(({ ours, bare }) => ({ ours: ours.perSecond, bare: bare.perSecond }))
    const atLeast = targetAppends.get(inFlight)
    rows.push({
      name: `appends, ${inFlight} in flight`,
      unit: '/s',
      ...summarizeRounds(rates, 'durable INSERTs of one row'),
      ...(atLeast === undefined ? {} : { target: { of: 'figure', atLeast } }),
    })
  }
  return rows
}
