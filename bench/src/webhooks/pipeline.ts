// The delivery code of the worker in a separate process, fed with generated events instead of a log.
import { randomUUID } from 'node:crypto'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { positionAt } from '@paylog/testing/positionAt'
import { createDispatcher } from '@paylog/webhooks/deliveries/dispatch/dispatcher'
import type { Erasures } from '@paylog/webhooks/deliveries/dispatch/erasures'
import { migrateWebhooks } from '@paylog/webhooks/deliveries/migrate'
import { installationId, openQueueStore } from '@paylog/webhooks/deliveries/queue/queueStore'
import { openWakeUps, takeWakeUps } from '@paylog/webhooks/deliveries/queue/wakeUps'
import type { BodyOf } from '@paylog/webhooks/deliveries/send/bodies'
import { createDeliverer } from '@paylog/webhooks/deliveries/send/deliverer'
import { createEndpointAgent } from '@paylog/webhooks/deliveries/send/endpointAgent'
import { createSender } from '@paylog/webhooks/deliveries/send/sender'
import { createDeliveries, planSettings } from '@paylog/webhooks/deliveries/tables/deliveries'
import { dropOldPartitions } from '@paylog/webhooks/deliveries/tables/partitions'
import type { AttemptResult } from '@paylog/webhooks/deliveries/tables/results'
import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { serveRequests } from '../harness/program.ts'
import { machineMicros, settledPayment } from './messages.ts'

/** As in the worker. */
const maxConnections = 6
const maxBatch = 100
/** More than the process claims at once, so that the work list is never empty. */
const maxInFlight = 1_000
const timeoutMs = 60_000
const keepMs = 86_400_000

const BenchCommand = Type.Union([
  /** As fast as possible. */
  Type.Object({ seconds: Type.Number() }),
  /** Events at random times, this many per second. `drops`: retention drops a partition half way. */
  Type.Object({ seconds: Type.Number(), perSecond: Type.Number(), drops: Type.Optional(Type.Boolean()) }),
  /** Fills an old partition with this many deliveries. */
  Type.Object({ fill: Type.Integer() }),
])

const { DATABASE_URL: databaseUrl = '', REDIS_URL: redisUrl, ...env } = process.env
const log = createLog({ app: 'bench', level: 'error' })
const now = () => new Date()
const { endpoints } = decodeEndpoints(env)
const pool = createPool({ databaseUrl, applicationName: 'worker', max: maxConnections, settings: planSettings, log })
await migrateWebhooks(pool)
const installation = await installationId(pool)
const { store, close } = await openQueueStore({ databaseUrl, redisUrl, installation, log })
const deliveries = createDeliveries(pool, randomUUID())
let recorded = 0
const onRecorded = ({ error }: AttemptResult) => {
  if (error === null) recorded += 1
}
const agent = createEndpointAgent(['127.0.0.0/8'])
const bodyOf: BodyOf = (_, { body }) => body ?? Promise.resolve(undefined)
const sender = createSender({
  deliveries,
  bodyOf,
  agent,
  successStatus: '200',
  now,
  random: Math.random,
  onRecorded,
  log,
})
const wakeUps = openWakeUps({ store, log })
const deliverer = createDeliverer({ deliveries, endpoints, sender, scheduleWakeUp: wakeUps.schedule, now, log })
const taking = takeWakeUps({ store, wake: deliverer.wake, log })
const stop = new AbortController()
deliverer.start(stop.signal)
const projects = { projectId: 'default', projectIds: [] }
const erasures: Erasures = { apply: async () => undefined, withoutKeys: async (events) => events }
const dispatcher = createDispatcher({ deliveries, deliverer, wakeUps, endpoints, projects, erasures, now })
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
async function pace(seconds: number, perSecond: number, drops: boolean): Promise<object> {
  const until = performance.now() + seconds * 1_000
  const dropping = drops ? dropLater((seconds * 1_000) / 2) : 0
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
  return { dropMs: await dropping }
}

/** Fills the partition of a day that is over for longer than `keepMs`. Like that day's, it is vacuumed and on disk afterwards. */
async function fill(count: number): Promise<object> {
  const client = await pool.connect()
  try {
    await client.query('set statement_timeout = 0')
    await client.query(`select webhooks.create_partitions(current_date - 3, current_date - 3)`)
    await client.query(
      `insert into webhooks.finished_deliveries
       select gen_random_uuid(), node, event, mode, provider, body, source_stream, source_revision, source_event_id,
         correlation_id, causation_id, payment_id, user_id, is_test, traceparent, created_at, attempts, attempts_made,
         last_attempt_at, last_http_status, last_error, date_trunc('day', now()) - interval '2 days 12 hours'
       from (select * from webhooks.finished_deliveries where ended_at >= current_date - 1 limit 1) as sample,
         generate_series(1, $1::integer)`,
      [count],
    )
    await client.query('vacuum (freeze, analyze) webhooks.finished_deliveries')
    await client.query('checkpoint')
  } finally {
    client.release(true)
  }
  return {}
}

/** @returns how long the drop took, in ms */
async function dropLater(afterMs: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  const begin = performance.now()
  const dropped = await dropOldPartitions(pool, keepMs)
  if (dropped.length !== 1) throw new Error(`${dropped.length} partitions were dropped`)
  return performance.now() - begin
}

async function run(message: unknown): Promise<object> {
  const command = Value.Parse(BenchCommand, message)
  if ('fill' in command) return await fill(command.fill)
  if ('perSecond' in command) return await pace(command.seconds, command.perSecond, command.drops === true)
  return await saturate(command.seconds)
}

serveRequests(run, async () => {
  stop.abort()
  await deliverer.close()
  await taking.close()
  await wakeUps.close()
  await close()
  await agent.destroy()
  await pool.end()
})
