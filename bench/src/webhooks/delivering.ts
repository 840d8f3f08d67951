// Delivery throughput compared with a loop that only signs and sends, and the effect of a hanging endpoint on another
// one.
import { randomBytes } from 'node:crypto'
import { concurrencyPerEndpoint } from '@paylog/webhooks/deliveries/send/lanes'
import { Type } from 'typebox'
import {
  alternateRounds,
  type BenchmarkRow,
  formatNumber,
  median,
  type Print,
  quantile,
  summarizeRounds,
} from '../harness/benchmark.ts'
import { type BenchmarkProgram, startBenchmarkProgram } from '../harness/program.ts'

/** Target ratios to the bare loop, with Redis and on Postgres alone. */
const minRatios = { redis: 0.5, postgres: 0.3 }
/** Share of the maximum delivery rate, split between two endpoints. */
const load = 0.2
const maxRatio = 1.1
/** When retention drops a partition. */
const droppingPerSecond = 5_000
/** Deliveries per p99, about one second of them. */
const windowSize = 500

/** Durations in seconds. */
const full = {
  warmUp: 3,
  rounds: 3,
  bare: 3,
  delivering: 6,
  calm: 16,
  // A little longer than the endpoint hangs, so that its responses are included.
  hanging: 32,
  dropping: 6,
  /** Deliveries in the dropped partition. */
  dropped: 500_000,
}
const quick: typeof full = {
  warmUp: 1,
  rounds: 1,
  bare: 1,
  delivering: 2,
  calm: 2,
  hanging: 4,
  dropping: 2,
  dropped: 2_000,
}

const Rate = Type.Object({ perSecond: Type.Number() })
const Dropped = Type.Object({ dropMs: Type.Number() })
const Port = Type.Object({ port: Type.Integer() })
const Arrived = Type.Object({ first: Type.Integer(), second: Type.Integer(), ages: Type.Array(Type.Number()) })

type Parts = {
  readonly sink: BenchmarkProgram
  readonly url: (path: 'first' | 'second') => string
  readonly secret: string
  readonly servers: Readonly<Record<string, string>>
  readonly times: typeof full
  readonly print: Print
}

/** @param servers `DATABASE_URL` and, for Redis queues, `REDIS_URL` */
export async function measureDelivering(
  servers: Readonly<Record<string, string>>,
  { isQuick, print }: { readonly isQuick: boolean; readonly print: Print },
): Promise<BenchmarkRow[]> {
  await using stack = new AsyncDisposableStack()
  const sink = await startBenchmarkProgram(import.meta.resolve('./sink.ts'), { env: {}, stack })
  const { port } = await sink.request({ hang: false }, Port)
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const times = isQuick ? quick : full
  const parts: Parts = { sink, url: (path) => `http://127.0.0.1:${port}/${path}`, secret, servers, times, print }
  const onPostgres = { ...parts, servers: withoutRedis(servers) }
  const alone = await throughput(onPostgres, 'on Postgres alone', minRatios.postgres)
  const rate = servers.REDIS_URL === undefined ? alone : await throughput(parts, 'with Redis', minRatios.redis)
  return [
    ...new Set([rate, alone]),
    ...(await isolation(parts, (rate.figure * load) / 2)),
    await retention(onPostgres, Math.min(droppingPerSecond, alone.figure * 0.7)),
  ]
}

function withoutRedis({ DATABASE_URL = '' }: Parts['servers']): Parts['servers'] {
  return { DATABASE_URL }
}

async function throughput(parts: Parts, where: string, atLeast: number): Promise<BenchmarkRow> {
  await using stack = new AsyncDisposableStack()
  const { times } = parts
  const bare = await startBenchmarkProgram(import.meta.resolve('./bareLoop.ts'), { env: {}, stack })
  const worker = await startPipeline(stack, { ...parts.servers, ...endpointVariables(1, parts, 'first') })
  const loop = { url: parts.url('first'), secret: parts.secret, concurrency: concurrencyPerEndpoint }
  await bare.request({ ...loop, seconds: times.warmUp }, Rate)
  await worker.request({ seconds: times.warmUp }, Rate)
  const measured = await alternateRounds(
    times.rounds,
    () => worker.request({ seconds: times.delivering }, Rate),
    () => bare.request({ ...loop, seconds: times.bare }, Rate),
  )
  const rates = measured.map(({ ours, bare }) => ({ ours: ours.perSecond, bare: bare.perSecond }))
  parts.print(`${where}, ratios of the rounds: ${rates.map(({ ours, bare }) => (ours / bare).toFixed(2)).join(' ')}`)
  return {
    name: `deliveries with durable attempts, ${where}`,
    unit: '/s',
    ...summarizeRounds(rates, 'a loop that signs and POSTs'),
    target: { of: 'ratio', atLeast },
  }
}

/** Retention drops a partition while deliveries go on. */
async function retention(parts: Parts, perSecond: number): Promise<BenchmarkRow> {
  await using stack = new AsyncDisposableStack()
  const { sink, times, print } = parts
  await sink.request({ hang: false }, Port)
  const worker = await startPipeline(stack, { ...parts.servers, ...endpointVariables(1, parts, 'first') })
  const agesOf = async (drops: boolean) => {
    await sink.request({ take: true }, Arrived)
    const { dropMs } = await worker.request({ seconds: times.dropping, perSecond, drops }, Dropped)
    return { dropMs, ...(await sink.request({ take: true }, Arrived)) }
  }
  // As fast as possible, because it then ends with nothing left: a process that has just started falls behind.
  await worker.request({ seconds: times.warmUp }, Rate)
  await worker.request({ fill: times.dropped }, Type.Object({}))
  const calm = await agesOf(false)
  const dropping = await agesOf(true)
  const rate = formatNumber(perSecond)
  print(
    `a partition of ${formatNumber(times.dropped)} deliveries was dropped in ${formatNumber(dropping.dropMs)} ms, at ${rate} a second`,
  )
  return {
    name: `age of webhooks on arrival while retention drops a partition, at ${rate}/s, p99`,
    figure: quantile(dropping.ages, 0.99),
    unit: 'ms',
    bound: { name: 'without a drop', figure: quantile(calm.ages, 0.99) },
  }
}

/** The second endpoint gets the same webhooks and hangs in between. */
async function isolation(parts: Parts, perSecond: number): Promise<BenchmarkRow[]> {
  await using stack = new AsyncDisposableStack()
  const { sink, times } = parts
  const endpoints = {
    ...endpointVariables(1, parts, 'first'),
    ...endpointVariables(2, parts, 'second'),
    WEBHOOK_2_TIMEOUT: '40s',
  }
  const worker = await startPipeline(stack, { ...parts.servers, ...endpoints })
  const agesOf = async (hang: boolean, seconds: number) => {
    await sink.request({ hang }, Port)
    await sink.request({ take: true }, Arrived)
    await worker.request({ seconds, perSecond }, Type.Object({}))
    const { ages } = await sink.request({ take: true }, Arrived)
    return ages
  }
  await agesOf(false, times.warmUp)
  const before = await agesOf(false, times.calm)
  const hanging = await agesOf(true, times.hanging)
  await agesOf(false, times.warmUp)
  const calm = [...before, ...(await agesOf(false, times.calm))]
  parts.print(
    `${formatNumber(perSecond)} a second at each of two endpoints, ${calm.length} calm, ${hanging.length} while one hangs`,
  )
  const name = "age of an endpoint's webhooks on arrival while another one hangs"
  const boundName = 'while none hangs'
  const row = (q: string, ours: number, bare: number): BenchmarkRow => ({
    name: `${name}, ${q}`,
    figure: ours,
    unit: 'ms',
    bound: { name: boundName, figure: bare },
  })
  return [
    row('p50', quantile(hanging, 0.5), quantile(calm, 0.5)),
    { ...row('p99', usualP99(hanging), usualP99(calm)), target: { of: 'ratio', atMost: maxRatio } },
  ]
}

/**
 * In order of arrival. The median of the p99 of each window, because a hiccup of the machine affects only one of them.
 */
function usualP99(ages: readonly number[]): number {
  const windows = Math.max(1, Math.floor(ages.length / windowSize))
  return median(
    Array.from({ length: windows }, (_, index) =>
      quantile(ages.slice(index * windowSize, (index + 1) * windowSize), 0.99),
    ),
  )
}

function startPipeline(stack: AsyncDisposableStack, env: Readonly<Record<string, string>>): Promise<BenchmarkProgram> {
  return startBenchmarkProgram(import.meta.resolve('./pipeline.ts'), { env, stack })
}

function endpointVariables(index: number, { url, secret }: Parts, path: 'first' | 'second'): Record<string, string> {
  const variable = (name: string) => `WEBHOOK_${index}_${name}`
  return { [variable('ENABLED')]: 'true', [variable('URL')]: url(path), [variable('SECRET')]: secret }
}
