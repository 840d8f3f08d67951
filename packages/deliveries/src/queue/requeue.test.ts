import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { freePort } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { batchOf, createWorkerHarness, onQueue, type QueueKind, queueKinds } from '../testing/workerHarness.ts'
import { createRequeuer } from './requeue.ts'

/** A delivery that is being sent until the test ends, and a requeuer that records the deliveries it takes over. */
async function deliveryInProgress(t: Test, kind: QueueKind, redisUrl?: string) {
  const pending: ServerResponse[] = []
  const endpoint = await startFakeEndpoint(t, (response) => pending.push(response))
  const harness = await createWorkerHarness(
    t,
    kind,
    { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url },
    redisUrl,
  )
  await harness.dispatcher.start()
  await harness.work()
  t.teardown(() => {
    for (const response of pending) response.end()
  })
  await harness.dispatcher.handle(batchOf(1))
  await waitFor(() => pending.length === 1, { what: 'the request' })
  const takenOver: string[] = []
  const requeuer = createRequeuer({
    deliveries: harness.deliveries,
    queues: {
      ...harness.queues,
      async takeOver(node, attempt, id) {
        takenOver.push(attempt.deliveryId)
        await harness.queues.takeOver(node, attempt, id)
      },
    },
    endpoints: harness.endpoints,
    now: () => new Date(),
    log: createLog({ app: 'test', level: 'silent' }),
  })
  return { harness, requeuer, takenOver }
}

t.test('a job is taken over once, after two rounds in a row that miss its worker', async (t) => {
  const { harness, requeuer, takenOver } = await deliveryInProgress(t, 'postgres')
  const [active] = await harness.queues.activeAttempts('1', 10)
  if (active === undefined) throw new Error('no job is active')
  const setWorker = (worker: string) =>
    harness.pool.query('update queue.job set processed_by = $1 where id like $2', [
      worker,
      `${active.attempt.deliveryId}%`,
    ])
  await requeuer.once()
  await requeuer.once()
  t.strictSame(takenOver, [], 'its worker is alive')
  await setWorker('dead worker')
  await requeuer.once()
  t.strictSame(takenOver, [], 'after one round the worker may be reconnecting')
  await setWorker(active.worker)
  await requeuer.once()
  await setWorker('dead worker')
  await requeuer.once()
  t.strictSame(takenOver, [], 'the count starts again')
  await requeuer.once()
  t.strictSame(takenOver, [active.attempt.deliveryId])
  await requeuer.once()
  await requeuer.once()
  t.strictSame(takenOver, [active.attempt.deliveryId])
})

t.test('no job is taken over when Redis cannot list its clients', onQueue('redis'), async (t) => {
  const port = await freePort()
  const flags = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--rename-command', 'CLIENT', '']
  const server = spawn('redis-server', flags, { stdio: 'ignore' })
  const exited = once(server, 'exit')
  t.teardown(async () => {
    server.kill('SIGTERM')
    await exited
  })
  const url = `redis://127.0.0.1:${port}`
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => 50, maxRetriesPerRequest: null })
  redis.on('error', () => undefined)
  await redis.ping()
  redis.disconnect()
  const { harness, requeuer, takenOver } = await deliveryInProgress(t, 'redis', url)
  t.equal((await harness.queues.activeAttempts('1', 10)).length, 1)
  for (let round = 0; round < 3; round++) await requeuer.once()
  t.strictSame(takenOver, [])
  t.equal(await harness.queues.liveWorkers('1'), undefined)
})

const hourMs = 3_600_000
/** Not now(): Postgres counts microseconds, so the row would not be due within the current millisecond. */
const aSecondAgo = "now() - interval '1 second'"
/** Nothing listens there, like an endpoint that is down. */
const downEndpoint = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'http://127.0.0.1:1/', WEBHOOK_1_RETRY_SCHEDULE: '1h' }

for (const kind of queueKinds) {
  t.test(`a delayed delivery that becomes due is sent at once on ${kind}`, onQueue(kind), async (t) => {
    const endpoint = await startFakeEndpoint(t, (response, index) => {
      response.statusCode = index === 0 ? 500 : 200
      response.end()
    })
    const harness = await createWorkerHarness(t, kind, { ...downEndpoint, WEBHOOK_1_URL: endpoint.url })
    await harness.dispatcher.start()
    await harness.work()
    await harness.dispatcher.handle(batchOf(1))
    const id = (await waitFor(() => endpoint.received[0], { what: 'the first attempt' })).id
    await waitFor(async () => (await harness.row(id))?.attempts === 1, { what: 'its record' })
    await harness.requeuer.once()
    t.equal(endpoint.received.length, 1, 'a delivery that is not due is not sent')
    await harness.pool.query(
      `update webhooks.deliveries set next_attempt_at = ${aSecondAgo}, requeue_at = ${aSecondAgo}`,
    )
    await harness.requeuer.once()
    await waitFor(async () => (await harness.row(id))?.status === 'succeeded', { what: 'the second attempt' })
    t.equal(endpoint.received.length, 2)
  })
}

t.test('deliveries of a paused endpoint are not requeued, and all in one round once it is enabled', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', downEndpoint)
  await harness.dispatcher.start()
  await harness.dispatcher.handle(batchOf(1_500))
  await harness.pool.query('truncate queue.job cascade')
  await harness.pool.query(`update webhooks.deliveries set requeue_at = ${aSecondAgo}`)
  await harness.pool.query(`insert into webhooks.nodes (name, disabled_at) values ('1', now())`)
  await harness.requeuer.once()
  t.equal(await harness.queues.waiting('1'), 0)
  await harness.pool.query('update webhooks.nodes set disabled_at = null')
  await harness.requeuer.once()
  t.ok((await harness.queues.waiting('1')) > 0)
  t.strictSame(await harness.deliveries.overdue('1', new Date(), 10), [], 'all deliveries were requeued')
})

t.test('a round ends after a bounded number of overdue deliveries when all of them have jobs', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', downEndpoint)
  await harness.dispatcher.start()
  await harness.dispatcher.handle(batchOf(3_000))
  const later = () => new Date(Date.now() + hourMs)
  let returned = 0
  const deliveries = {
    ...harness.deliveries,
    async overdue(...query: Parameters<typeof harness.deliveries.overdue>) {
      const overdue = await harness.deliveries.overdue(...query)
      returned += overdue.length
      return overdue
    },
  }
  const log = createLog({ app: 'test', level: 'silent' })
  const requeuer = createRequeuer({ deliveries, queues: harness.queues, endpoints: harness.endpoints, now: later, log })
  const waiting = await harness.queues.waiting('1')
  await requeuer.once()
  t.equal(returned, 1_000)
  t.equal(await harness.queues.waiting('1'), waiting, 'no job is added')
  await harness.pool.query('truncate queue.job cascade')
  await requeuer.once()
  t.equal(returned, 3_000, 'with missing jobs the round covers all deliveries')
})
