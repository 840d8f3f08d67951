// How fast deliveries go out, beside a loop that only signs and sends; and what a hanging endpoint does to another one.
import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import { concurrencyPerNode } from '../queue/workers.ts'
import { type Figure, median, quantile } from './figures.ts'
import { type Program, startProgram } from './program.ts'

const warmUpSeconds = 3
const rounds = 3
const bareSeconds = 3
const deliveringSeconds = 6
const leastShare = 0.4

/** Of the rate at which deliveries go out at most, shared by two endpoints. */
const load = 0.2
const calmSeconds = 16
/** A little longer than the endpoint hangs, so that its answers come in, too. */
const hangingSeconds = 32
const mostChange = 0.1
/** Deliveries whose p99 is taken together, about a second of them. */
const windowSize = 500

const Rate = Type.Object({ perSecond: Type.Number() })
const Port = Type.Object({ port: Type.Integer() })
const Arrived = Type.Object({ first: Type.Integer(), second: Type.Integer(), ages: Type.Array(Type.Number()) })

type Parts = {
  readonly sink: Program
  readonly url: (path: 'first' | 'second') => string
  readonly secret: string
  readonly servers: Readonly<Record<string, string>>
}

type Say = (text: string) => void

/** @param servers `DATABASE_URL` and, for queues on Redis, `REDIS_URL` */
export async function measureDelivering(servers: Readonly<Record<string, string>>, say: Say): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack()
  const sink = await startProgram(stack, './sink.ts', {})
  const { port } = await sink.ask({ hang: false }, Port)
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const parts: Parts = { sink, url: (path) => `http://127.0.0.1:${port}/${path}`, secret, servers }
  const rate = await throughput(parts, say)
  return [rate, await isolation(parts, ((rate.details.delivered_per_second ?? 0) * load) / 2)]
}

/** In turns, so that whatever else the machine does meets both. */
async function throughput(parts: Parts, say: Say): Promise<Figure> {
  await using stack = new AsyncDisposableStack()
  const bare = await startProgram(stack, './bareLoop.ts', {})
  const worker = await startProgram(stack, './pipeline.ts', { ...parts.servers, ...node(1, parts, 'first') })
  const loop = { url: parts.url('first'), secret: parts.secret, concurrency: concurrencyPerNode }
  await bare.ask({ ...loop, seconds: warmUpSeconds }, Rate)
  await worker.ask({ seconds: warmUpSeconds }, Rate)
  const results: { bare: number; delivered: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const alone = await bare.ask({ ...loop, seconds: bareSeconds }, Rate)
    const { perSecond } = await worker.ask({ seconds: deliveringSeconds }, Rate)
    results.push({ bare: alone.perSecond, delivered: perSecond })
    say(`  round ${round + 1}: the loop ${alone.perSecond.toFixed(0)}/s, deliveries ${perSecond.toFixed(0)}/s`)
  }
  return {
    name: 'deliveries with durable attempts, as a share of a bare loop',
    measured: median(results.map(({ bare, delivered }) => delivered / bare)),
    target: leastShare,
    better: 'higher',
    unit: 'ratio',
    details: {
      bare_per_second: median(results.map(({ bare }) => bare)),
      delivered_per_second: median(results.map(({ delivered }) => delivered)),
    },
  }
}

/** The second endpoint gets the same messages all the time; in between it hangs. */
async function isolation(parts: Parts, perSecond: number): Promise<Figure> {
  await using stack = new AsyncDisposableStack()
  const { sink } = parts
  const nodes = { ...node(1, parts, 'first'), ...node(2, parts, 'second'), WEBHOOK_2_TIMEOUT: '40s' }
  const worker = await startProgram(stack, './pipeline.ts', { ...parts.servers, ...nodes })
  const agesOf = async (hang: boolean, seconds: number) => {
    await sink.ask({ hang }, Port)
    await sink.ask({ take: true }, Arrived)
    await worker.ask({ seconds, perSecond }, Type.Object({}))
    const { ages } = await sink.ask({ take: true }, Arrived)
    return ages
  }
  await agesOf(false, warmUpSeconds)
  const before = await agesOf(false, calmSeconds)
  const hanging = await agesOf(true, hangingSeconds)
  await agesOf(false, warmUpSeconds)
  const after = await agesOf(false, calmSeconds)
  const [calm, disturbed] = [usualP99([...before, ...after]), usualP99(hanging)]
  return {
    name: "change of an endpoint's p99 when another one hangs for 30 s",
    measured: disturbed / calm - 1,
    target: mostChange,
    better: 'lower',
    unit: 'ratio',
    details: {
      per_second: perSecond,
      calm_p99_ms: calm,
      hanging_p99_ms: disturbed,
      calm_p50_ms: quantile([...before, ...after], 0.5),
      hanging_p50_ms: quantile(hanging, 0.5),
      calm_deliveries: before.length + after.length,
      hanging_deliveries: hanging.length,
    },
  }
}

/** In the order of arrival. The median of the p99 of every so many: a hiccup of the machine falls into one of them. */
function usualP99(ages: readonly number[]): number {
  const windows = Math.max(1, Math.floor(ages.length / windowSize))
  return median(
    Array.from({ length: windows }, (_, index) =>
      quantile(ages.slice(index * windowSize, (index + 1) * windowSize), 0.99),
    ),
  )
}

function node(index: number, { url, secret }: Parts, path: 'first' | 'second'): Record<string, string> {
  const variable = (name: string) => `WEBHOOK_${index}_${name}`
  return { [variable('ENABLED')]: 'true', [variable('URL')]: url(path), [variable('SECRET')]: secret }
}
