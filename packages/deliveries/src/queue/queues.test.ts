import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import { Queue } from 'bullmq'
import t, { type Test } from 'tap'
import { createEndpointAgent } from '../send/endpointAgent.ts'
import { createSender } from '../send/sender.ts'
import { batchOf, createWorkerHarness, onQueue, queueKinds, type WorkerHarness } from '../testing/workerHarness.ts'
import { producerBackend } from './queueStore.ts'
import { queueName } from './queues.ts'
import { concurrencyPerEndpoint, startWorkers } from './workers.ts'

const hourMs = 3_600_000

/** Counts the delayed jobs of endpoint 1. */
async function delayedCounter(t: Test, { store }: WorkerHarness): Promise<() => Promise<number>> {
  const prefix = store.kind === 'redis' ? { prefix: store.prefix } : {}
  const queue = new Queue(queueName('1'), { connection: store, ...prefix }, producerBackend)
  await queue.waitUntilReady()
  t.teardown(() => queue.close())
  return () => queue.getDelayedCount()
}

for (const kind of queueKinds) {
  t.test(`job queues on ${kind}`, onQueue(kind), async (t) => {
    t.test(`enqueueing an attempt without delay starts its delayed job once on ${kind}`, async (t) => {
      const endpoint = await startFakeEndpoint(t, (response, index) =>
        response.writeHead(index === 0 ? 500 : 200).end(),
      )
      const node = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url, WEBHOOK_1_RETRY_SCHEDULE: '1h' }
      const harness = await createWorkerHarness(t, kind, node)
      const delayed = await delayedCounter(t, harness)
      await harness.dispatcher.start()
      await harness.work()
      await harness.dispatcher.handle(batchOf(1))
      const { id } = await waitFor(() => endpoint.received[0], { what: 'the first attempt' })
      await waitFor(() => delayed().then((count) => count === 1), { what: 'the delayed job' })
      const second = { deliveryId: id, attempt: 2 }
      await harness.queues.enqueue('1', [{ ...second, delayMs: hourMs }])
      t.equal(await delayed(), 1, 'a repeated job with a delay changes nothing')
      await harness.queues.enqueue('1', [{ ...second, delayMs: 0 }])
      await waitFor(() => harness.row(id).then((row) => row?.status === 'succeeded'), { what: 'the second attempt' })
      t.equal(endpoint.received.length, 2)
      t.equal(await delayed(), 0)
      t.equal(await harness.queues.waiting('1'), 0)
    })

    t.test(`enqueue leaves waiting, unknown and other delayed jobs unchanged on ${kind}`, async (t) => {
      const harness = await createWorkerHarness(t, kind, {
        WEBHOOK_1_ENABLED: 'true',
        WEBHOOK_1_URL: 'http://127.0.0.1:9',
      })
      const delayed = await delayedCounter(t, harness)
      const attempts = Array.from({ length: 120 }, (_, index) => ({ deliveryId: `delivery${index}`, attempt: 2 }))
      const later = attempts.slice(0, 80)
      await harness.queues.enqueue(
        '1',
        later.map((attempt) => ({ ...attempt, delayMs: hourMs })),
      )
      await harness.queues.enqueue(
        '1',
        attempts.slice(10).map((attempt) => ({ ...attempt, delayMs: 0 })),
      )
      t.equal(await delayed(), 10)
      t.equal(await harness.queues.waiting('1'), 110)
      await harness.queues.enqueue('1', [{ deliveryId: 'delivery119', attempt: 2, delayMs: 0 }])
      t.equal(await harness.queues.waiting('1'), 110)
    })

    t.test(`first attempts share jobs, and enqueueing them again adds none on ${kind}`, async (t) => {
      const harness = await createWorkerHarness(t, kind, {
        WEBHOOK_1_ENABLED: 'true',
        WEBHOOK_1_URL: 'http://127.0.0.1:9',
      })
      const ids = Array.from({ length: 60 }, () => randomUUID())
      await harness.queues.enqueueNew('1', ids)
      const shared = await harness.queues.waiting('1')
      t.ok(shared < 10, `${shared} jobs`)
      const again = ids.map((deliveryId) => ({ deliveryId, attempt: 1, delayMs: 0 }))
      await harness.queues.enqueue('1', again)
      t.equal(await harness.queues.waiting('1'), shared)
      const lost = { deliveryId: randomUUID(), attempt: 1, delayMs: 0 }
      await harness.queues.enqueue('1', [...again, lost])
      t.equal(await harness.queues.waiting('1'), shared + 1, 'an attempt without a job gets one')
      await harness.queues.enqueue('1', [lost])
      t.equal(await harness.queues.waiting('1'), shared + 1)
    })

    t.test(`first attempts in many waiting jobs get no second job on ${kind}`, async (t) => {
      const harness = await createWorkerHarness(t, kind, {
        WEBHOOK_1_ENABLED: 'true',
        WEBHOOK_1_URL: 'http://127.0.0.1:9',
      })
      const pairs = Array.from({ length: 130 }, () => [randomUUID(), randomUUID()])
      for (const pair of pairs) await harness.queues.enqueueNew('1', pair)
      const again = pairs.flat().map((deliveryId) => ({ deliveryId, attempt: 1, delayMs: 0 }))
      await harness.queues.enqueue('1', again)
      t.equal(await harness.queues.waiting('1'), pairs.length)
    })

    t.test(`attempts in progress get no second job and do not delay others on ${kind}`, async (t) => {
      const pending: ServerResponse[] = []
      const endpoint = await startFakeEndpoint(t, (response, index) => {
        if (index === 0) pending.push(response)
        else response.end('ok')
      })
      const harness = await createWorkerHarness(t, kind, { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url })
      const log = createLog({ app: 'test', level: 'silent' })
      await harness.dispatcher.start()
      await harness.dispatcher.handle(batchOf(10))
      const first = await startWorkers({ ...harness, log })
      t.teardown(() => first.close().catch(() => undefined))
      await waitFor(() => endpoint.received.length === 10, { what: 'all requests' })
      for (const { id } of endpoint.received.slice(1))
        await waitFor(() => harness.row(id).then((row) => row?.status === 'succeeded'), { what: 'the record' })
      const active = await harness.queues.activeAttempts('1', 10)
      t.equal(active.length, 10)
      // From here on another process takes the jobs. It cannot see the requests of the first one.
      const closed = first.close()
      const agent = createEndpointAgent(['127.0.0.0/8'])
      t.teardown(() => agent.destroy())
      const { deliveries } = harness
      const deps = {
        deliveries,
        agent,
        successStatus: '200',
        now: () => new Date(),
        random: Math.random,
        log,
      } as const
      const second = await startWorkers({ ...harness, send: createSender(deps), log })
      t.teardown(() => second.close().catch(() => undefined))
      const again = active.map(({ attempt }) => ({ ...attempt, delayMs: 0 })).reverse()
      await harness.queues.enqueue('1', again)
      await harness.dispatcher.handle(batchOf(1, 11n))
      await waitFor(() => endpoint.received.length > 10, { what: 'the attempts after them in the queue' })
      pending[0]?.end('ok')
      await closed
      await second.close()
      t.equal(endpoint.received.length, 11)
      t.match(await harness.row(endpoint.received[0]?.id ?? ''), { status: 'succeeded', attempts: 1 })
    })

    t.test(`a stopping worker starts no further attempts, and the next worker makes them, on ${kind}`, async (t) => {
      const more = 30
      const pending: ServerResponse[] = []
      const endpoint = await startFakeEndpoint(t, (response, index) => {
        if (index < concurrencyPerEndpoint) pending.push(response)
        else response.end('ok')
      })
      const harness = await createWorkerHarness(t, kind, { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url })
      const log = createLog({ app: 'test', level: 'silent' })
      await harness.dispatcher.start()
      await harness.dispatcher.handle(batchOf(concurrencyPerEndpoint + more))
      const workers = await startWorkers({ ...harness, log })
      t.teardown(() => workers.close().catch(() => undefined))
      await waitFor(() => pending.length === concurrencyPerEndpoint, { what: 'the requests' })
      const closed = workers.close()
      for (const response of pending) response.end('ok')
      await closed
      t.equal(endpoint.received.length, concurrencyPerEndpoint)
      await harness.work()
      const requeueing = harness.startRequeuer()
      const arrived = () => endpoint.received.length >= concurrencyPerEndpoint + more
      await waitFor(arrived, { what: 'the others', timeoutMs: 15_000 })
      await requeueing.stop()
      t.equal(new Set(endpoint.received.map(({ id }) => id)).size, concurrencyPerEndpoint + more)
      t.equal(endpoint.received.length, concurrencyPerEndpoint + more)
    })
  })
}
