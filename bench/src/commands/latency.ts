// `npm run bench -- latency`: from the response of a POST to the list and to the webhook endpoint, without load.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { withoutLimits } from '@paylog/testing/processes'
import { request } from 'undici'
import {
  type BenchmarkOptions,
  type BenchmarkResult,
  type BenchmarkRow,
  type BenchmarkTarget,
  quantile,
} from '../harness/benchmark.ts'
import { describePostgres } from '../harness/privatePostgres.ts'
import { openEndpoint, startPrivateSystem } from '../harness/privateSystem.ts'
import { authorization, openPayment, postBare } from './payments.ts'

const warmUps = 10
/** Longer than all follow-up work of a payment, so that the system is idle for each one. */
const restMs = 60
const timeoutMs = 10_000
const targets = { start: 20_000, list: 50, webhook: 100 }

type Times = Readonly<Record<'response' | 'list' | 'bareList' | 'webhook' | 'barePost', number[]>>

/** Starts a private system and times payments one at a time. @throws Error for any option: it has none */
export async function latency({ args, isQuick, print, stack }: BenchmarkOptions): Promise<BenchmarkResult> {
  parseArgs({ args: [...args], options: {} })
  const rounds = isQuick ? 20 : 100
  const endpoint = await openEndpoint(stack)
  const begin = performance.now()
  const { base_url, environment } = await startPrivateSystem(stack, { ...withoutLimits, ...endpoint.settings })
  const startMs = performance.now() - begin
  const times: Times = { response: [], list: [], bareList: [], webhook: [], barePost: [] }
  for (let round = -warmUps; round < rounds; round++) {
    const sentAt = performance.now()
    const id = await openPayment(base_url)
    const respondedAt = performance.now()
    const listed = await untilListed(base_url, id)
    const arrivals = await endpoint.received(2 * (round + warmUps) + 1, AbortSignal.timeout(timeoutMs))
    const arrival = arrivals.find(({ paymentId }) => paymentId === id)
    if (arrival === undefined) throw new Error(`The endpoint did not receive ${id}`)
    await sleep(restMs)
    const bareList = await timed(() => list(base_url))
    const barePost = await postBare(endpoint)
    if (round < 0) continue
    times.response.push(respondedAt - sentAt)
    times.list.push(listed - respondedAt)
    times.webhook.push(Math.max(0, arrival.at - respondedAt))
    times.bareList.push(bareList)
    times.barePost.push(barePost)
  }
  print(`${rounds} payments, one at a time: responses in p50 ${quantile(times.response, 0.5).toFixed(1)} ms`)
  const start: BenchmarkTarget = { of: 'figure', atMost: targets.start }
  const { description } = await describePostgres(environment.DATABASE_URL ?? '')
  return {
    postgres: description,
    rows: [{ name: 'start with an empty DATA_DIR', figure: startMs, unit: 'ms', target: start }, ...rowsOf(times)],
  }
}

function rowsOf(times: Times): BenchmarkRow[] {
  const row = (what: 'list' | 'webhook', bare: 'bareList' | 'barePost', boundName: string) =>
    [50, 99].map((percent): BenchmarkRow => {
      const [figure, bound] = [quantile(times[what], percent / 100), quantile(times[bare], percent / 100)]
      return {
        name: `from a POST response to the ${what}, without load, p${percent}`,
        figure,
        unit: 'ms',
        bound: { name: boundName, figure: bound },
        target: { of: 'figure', atMost: targets[what] },
      }
    })
  return [
    ...row('list', 'bareList', 'one GET /payments'),
    ...row('webhook', 'barePost', 'a bare POST to the same endpoint'),
  ]
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

/** Polls with X-Read-After 0, so that the api does not make the read wait for the write. */
async function untilListed(baseUrl: string, id: string): Promise<number> {
  for (const giveUpAt = performance.now() + timeoutMs; performance.now() < giveUpAt; )
    if ((await list(baseUrl)).includes(id)) return performance.now()
  throw new Error(`The payment ${id} did not reach the list`)
}

async function list(baseUrl: string): Promise<string> {
  const { body } = await request(`${baseUrl}/payments?limit=1`, { headers: { authorization, 'x-read-after': '0' } })
  return body.text()
}
