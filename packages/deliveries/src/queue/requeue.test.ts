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

/** A delivery that is being sent until the test is over, and a sweep that shows what it takes over. */
async function underWay(t: Test, kind: QueueKind, redisUrl?: string) {
  const pending: ServerResponse[] = []
  const endpoint = await startFakeEndpoint(t, (response) => pending.push(response))
  const rig = await createWorkerHarness(t, kind, { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url }, redisUrl)
  await rig.dispatcher.start()
  await rig.work()
  t.teardown(() => {
    for (const response of pending) response.end()
  })
  await rig.dispatcher.handle(batchOf(1))
  await waitFor(() => pending.length === 1, { what: 'the request' })
  const takenOver: string[] = []
  const sweep = createRequeuer({
    deliveries: rig.deliveries,
    queues: {
      ...rig.queues,
      async takeOver(node, attempt, id) {
        takenOver.push(attempt.deliveryId)
        await rig.queues.takeOver(node, attempt, id)
      },
    },
    endpoints: rig.endpoints,
    now: () => new Date(),
    log: createLog({ app: 'test', level: 'silent' }),
  })
  return { rig, sweep, takenOver }
}

t.test('a job is taken over when two looks in a row miss its worker, and once only', async (t) => {
  const { rig, sweep, takenOver } = await underWay(t, 'postgres')
  const [held] = await rig.queues.activeAttempts('1', 10)
  if (held === undefined) throw new Error('no job is held')
  const heldBy = (worker: string) =>
    rig.pool.query('update queue.job set processed_by = $1 where id like $2', [worker, `${held.attempt.deliveryId}%`])
  await sweep.once()
  await sweep.once()
  t.strictSame(takenOver, [], 'its worker lives')
  await heldBy('nobody')
  await sweep.once()
  t.strictSame(takenOver, [], 'it may be connecting again')
  await heldBy(held.worker)
  await sweep.once()
  await heldBy('nobody')
  await sweep.once()
  t.strictSame(takenOver, [], 'and is missed for the first time again')
  await sweep.once()
  t.strictSame(takenOver, [held.attempt.deliveryId])
  await sweep.once()
  await sweep.once()
  t.strictSame(takenOver, [held.attempt.deliveryId])
})

t.test('where nobody can tell which workers live, nothing is taken over', onQueue('redis'), async (t) => {
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
  const { rig, sweep, takenOver } = await underWay(t, 'redis', url)
  t.equal((await rig.queues.activeAttempts('1', 10)).length, 1)
  for (let look = 0; look < 3; look++) await sweep.once()
  t.strictSame(takenOver, [])
  t.equal(await rig.queues.liveWorkers('1'), undefined)
})

const hourMs = 3_600_000
/** Not now: Postgres counts microseconds, and in the millisecond of the sweep's look it would not be due yet. */
const aSecondAgo = "now() - interval '1 second'"
/** Nobody listens there, which is as good as an endpoint that is down. */
const downEndpoint = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'http://127.0.0.1:1/', WEBHOOK_1_RETRY_SCHEDULE: '1h' }

for (const kind of queueKinds) {
  t.test(
    `a delivery that waits for its next attempt, and is to be tried now, is, on ${kind}`,
    onQueue(kind),
    async (t) => {
      const endpoint = await startFakeEndpoint(t, (response, index) => {
        response.statusCode = index === 0 ? 500 : 200
        response.end()
      })
      const rig = await createWorkerHarness(t, kind, { ...downEndpoint, WEBHOOK_1_URL: endpoint.url })
      await rig.dispatcher.start()
      await rig.work()
      await rig.dispatcher.handle(batchOf(1))
      const id = (await waitFor(() => endpoint.received[0], { what: 'the first attempt' })).id
      await waitFor(async () => (await rig.row(id))?.attempts === 1, { what: 'its record' })
      await rig.sweep.once()
      t.equal(endpoint.received.length, 1, 'what is not due is left alone')
      await rig.pool.query(`update webhooks.deliveries set next_attempt_at = ${aSecondAgo}, sweep_at = ${aSecondAgo}`)
      await rig.sweep.once()
      await waitFor(async () => (await rig.row(id))?.status === 'succeeded', { what: 'the second attempt' })
      t.equal(endpoint.received.length, 2)
    },
  )
}

t.test('deliveries of a disabled node are left alone, and all brought in by one look when it is enabled', async (t) => {
  const rig = await createWorkerHarness(t, 'postgres', downEndpoint)
  await rig.dispatcher.start()
  await rig.dispatcher.handle(batchOf(1_500))
  await rig.pool.query('truncate queue.job cascade')
  await rig.pool.query(`update webhooks.deliveries set sweep_at = ${aSecondAgo}`)
  await rig.pool.query(`insert into webhooks.endpoints (name, disabled_at) values ('1', now())`)
  await rig.sweep.once()
  t.equal(await rig.queues.waiting('1'), 0)
  await rig.pool.query('update webhooks.endpoints set disabled_at = null')
  await rig.sweep.once()
  t.ok((await rig.queues.waiting('1')) > 0)
  t.strictSame(await rig.deliveries.overdue('1', new Date(), 10), [], 'none was left out')
})

t.test('where everything that is overdue has its job, a look ends after a bounded part of it', async (t) => {
  const rig = await createWorkerHarness(t, 'postgres', downEndpoint)
  await rig.dispatcher.start()
  await rig.dispatcher.handle(batchOf(3_000))
  const later = () => new Date(Date.now() + hourMs)
  let handedOut = 0
  const deliveries = {
    ...rig.deliveries,
    async overdue(...asked: Parameters<typeof rig.deliveries.overdue>) {
      const overdue = await rig.deliveries.overdue(...asked)
      handedOut += overdue.length
      return overdue
    },
  }
  const log = createLog({ app: 'test', level: 'silent' })
  const sweep = createRequeuer({ deliveries, queues: rig.queues, endpoints: rig.endpoints, now: later, log })
  const waiting = await rig.queues.waiting('1')
  await sweep.once()
  t.equal(handedOut, 1_000)
  t.equal(await rig.queues.waiting('1'), waiting, 'and adds nothing')
  await rig.pool.query('truncate queue.job cascade')
  await sweep.once()
  t.equal(handedOut, 3_000, 'where jobs are missing it goes on to the end')
})
