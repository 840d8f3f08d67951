// The delivery code of the worker in a separate process, fed with generated events instead of a log.

import { createDispatcher } from '@paylog/deliveries/dispatch/dispatcher'
import { migrateWebhooks } from '@paylog/deliveries/migrate'
import { installationId, openQueueStore } from '@paylog/deliveries/queue/queueStore'
import { createQueues } from '@paylog/deliveries/queue/queues'
import { createRequeuer } from '@paylog/deliveries/queue/requeue'
import { startWorkers } from '@paylog/deliveries/queue/workers'
import { createEndpointAgent } from '@paylog/deliveries/send/endpointAgent'
import { createSender } from '@paylog/deliveries/send/sender'
import { createDeliveries } from '@paylog/deliveries/tables/deliveries'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { positionAt } from '@paylog/testing/positionAt'
import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { serveRequests } from '../harness/program.ts'
import { machineMicros, settledPayment } from './messages.ts'

/** As in the worker. */
const maxConnections = 6
const maxBatch = 100
/** Enough to keep the senders busy, and less than the dispatcher puts into a queue. */
const maxInFlight = 1_000
const timeoutMs = 60_000

const BenchCommand = Type.Union([
  /** As fast as possible. */
  Type.Object({ seconds: Type.Number() }),
  /** Events at random times, this many per second. */
  Type.Object({ seconds: Type.Number(), perSecond: Type.Number() }),
])

const { DATABASE_URL: databaseUrl = '', REDIS_URL: redisUrl, ...env } = process.env
const log = createLog({ app: 'bench', level: 'error' })
const now = () => new Date()
const { endpoints } = decodeEndpoints(env)
const pool = createPool({ databaseUrl, applicationName: 'worker', max: maxConnections, log })
await migrateWebhooks(pool)
const installation = await installationId(pool)
const { store, close } = await openQueueStore({ databaseUrl, redisUrl, installation, workers: endpoints.length, log })
const all = createDeliveries(pool)
let recorded = 0
const deliveries: typeof all = {
  ...all,
  async finish(result) {
    const first = await all.finish(result)
    if (result.status === 'succeeded' && first) recorded += 1
    return first
  },
}
const queues = createQueues({ store, endpoints, log })
await queues.ready()
const agent = createEndpointAgent(['127.0.0.0/8'])
const send = createSender({ deliveries, agent, successStatus: '200', now, random: Math.random, log })
const workers = await startWorkers({ store, endpoints, queues, send, log })
const stop = new AbortController()
const requeueing = createRequeuer({ deliveries, queues, endpoints, now, log }).run(stop.signal)
const dispatcher = createDispatcher({
  deliveries,
  queues,
  endpoints,
  projects: { projectId: 'default', projectIds: [] },
  now,
  log,
})
let position = (await dispatcher.start())?.commit ?? 0n

async function handle(moments: readonly number[]): Promise<void> {
  const events = moments.map((at) => {
    position += 1n
    return settledPayment(position, at)
  })
  await dispatcher.handle({ events, position: positionAt(position) })
}

async function saturate(seconds: number): Promise<object> {
  const begin = performance.now()
  const until = begin + seconds * 1_000
  const before = recorded
  let created = 0
  while (performance.now() < until) {
    if (created - (recorded - before) > maxInFlight - maxBatch) await new Promise((resolve) => setTimeout(resolve, 1))
    else {
      await handle(Array.from({ length: maxBatch }, machineMicros))
      created += maxBatch
    }
  }
  const perSecond = ((recorded - before) * 1_000) / (performance.now() - begin)
  const giveUpAt = performance.now() + timeoutMs
  while (recorded - before < created) {
    if (performance.now() > giveUpAt) throw new Error(`${created - (recorded - before)} deliveries did not finish`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return { perSecond }
}

/** Events that arrive during a batch wait for it, as in the log. */
async function pace(seconds: number, perSecond: number): Promise<object> {
  const until = performance.now() + seconds * 1_000
  const cpu = process.cpuUsage()
  let due = performance.now()
  while (performance.now() < until) {
    const moments: number[] = []
    for (
      ;
      due <= performance.now() && moments.length < maxBatch;
      due += (-Math.log(1 - Math.random()) * 1_000) / perSecond
    )
      moments.push(machineMicros() - Math.round((performance.now() - due) * 1_000))
    if (moments.length === 0) await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())))
    else await handle(moments)
  }
  const { user, system } = process.cpuUsage(cpu)
  return { cpuShare: (user + system) / 1e6 / seconds }
}

async function run(message: unknown): Promise<object> {
  const command = Value.Parse(BenchCommand, message)
  return 'perSecond' in command ? await pace(command.seconds, command.perSecond) : await saturate(command.seconds)
}

serveRequests(run, async () => {
  stop.abort()
  await requeueing
  await workers.close()
  await queues.close()
  await close()
  await agent.destroy()
  await pool.end()
})
