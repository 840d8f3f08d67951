import { randomUUID } from 'node:crypto'
import { createLog } from '@paylog/runtime/telemetry/log'
import { positionAt } from '@paylog/testing/positionAt'
import t from 'tap'
import { maxWaiting } from '../queue/queues.ts'
import type { MappedBatch } from '../tables/recordDeliveries.ts'
import { batchOf, createWorkerHarness, notificationReceived, type WorkerHarness } from '../testing/workerHarness.ts'
import { createDispatcher } from './dispatcher.ts'

const rawEndpoint = {
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: 'http://127.0.0.1:9',
  WEBHOOK_1_EVENT_MODE: 'raw',
}
const mebibyte = 1024 * 1024
const large = (commit: bigint) => notificationReceived(commit, JSON.stringify('x'.repeat(3 * mebibyte)))

/** A dispatcher on the harness's own database and queue, with the batches it records. */
function recordingDispatcher(
  { deliveries, queues, endpoints }: WorkerHarness,
  beforeRecord: (count: number) => void = () => undefined,
) {
  const batches: MappedBatch[] = []
  const dispatcher = createDispatcher({
    deliveries: {
      ...deliveries,
      record(batch) {
        batches.push(batch)
        beforeRecord(batches.length)
        return deliveries.record(batch)
      },
    },
    queues,
    endpoints: endpoints,
    projects: { projectId: 'default', projectIds: [] },
    now: () => new Date(),
    log: createLog({ app: 'test', level: 'silent' }),
  })
  return { batches, dispatcher }
}

const count = async ({ pool }: WorkerHarness) => {
  const { rows } = await pool.query<{ count: number }>('select count(*)::int as count from webhooks.deliveries')
  return rows[0]?.count
}

t.test(
  'the dispatcher records a batch in slices of bounded size, each with the position of its last event',
  async (t) => {
    const harness = await createWorkerHarness(t, 'postgres', rawEndpoint)
    const { batches, dispatcher } = recordingDispatcher(harness)
    await dispatcher.start()
    const events = [1n, 3n, 5n, 7n, 9n].map((commit) => large(commit + 10n))
    await dispatcher.handle({ events, position: positionAt(900n, 899n) })
    t.strictSame(
      batches.map(({ messages, from, to }) => [messages.length, from, to]),
      [
        [2, undefined, positionAt(13n, 12n)],
        [2, positionAt(13n, 12n), positionAt(17n, 16n)],
        [1, positionAt(17n, 16n), positionAt(900n, 899n)],
      ],
    )
    t.equal(await count(harness), 5)
    t.strictSame(await dispatcher.start(), positionAt(900n, 899n))
  },
)

t.test('the dispatcher records an event larger than a slice in a separate slice', async (t) => {
  const endpoints = [2, 3, 4].map((n) => ({
    [`WEBHOOK_${n}_ENABLED`]: 'true',
    [`WEBHOOK_${n}_URL`]: 'http://127.0.0.1:9',
    [`WEBHOOK_${n}_EVENT_MODE`]: 'raw',
  }))
  const harness = await createWorkerHarness(t, 'postgres', Object.assign({}, rawEndpoint, ...endpoints))
  const { batches, dispatcher } = recordingDispatcher(harness)
  await dispatcher.start()
  const events = [notificationReceived(2n, '{}'), large(4n), notificationReceived(6n, '{}')]
  await dispatcher.handle({ events, position: positionAt(6n, 5n) })
  t.strictSame(
    batches.map(({ messages, to }) => [messages.length, to.commit]),
    [
      [4, 2n],
      [4, 4n],
      [4, 6n],
    ],
  )
  t.equal(await count(harness), 12)
})

t.test('after a failed slice the dispatcher reads the log again from the last recorded slice', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', rawEndpoint)
  const { dispatcher } = recordingDispatcher(harness, (recorded) => {
    if (recorded === 2) throw new Error('the database is gone')
  })
  await dispatcher.start()
  const events = [2n, 4n, 6n].map(large)
  const position = positionAt(6n, 5n)
  await t.rejects(dispatcher.handle({ events, position }), /gone/)
  t.strictSame(await dispatcher.start(), positionAt(4n, 3n))
  await dispatcher.handle({ events: events.slice(2), position })
  t.equal(await count(harness), 3)
})

t.test('the dispatcher adds no jobs to a full queue, and adds jobs again once it has space', async (t) => {
  const canonicalEndpoint = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'http://127.0.0.1:9' }
  const harness = await createWorkerHarness(t, 'postgres', canonicalEndpoint)
  await harness.dispatcher.start()
  const attempts = Array.from({ length: maxWaiting - 1 }, () => ({
    deliveryId: randomUUID(),
    attempt: 2,
    delayMs: 0,
  }))
  await harness.queues.enqueue('1', attempts)
  await harness.dispatcher.handle(batchOf(2))
  t.equal(await harness.queues.waiting('1'), maxWaiting, 'two first attempts share a job')
  await harness.dispatcher.handle(batchOf(1, 3n))
  t.equal(await harness.queues.waiting('1'), maxWaiting)
  t.equal(await count(harness), 3)
  await harness.pool.query('truncate queue.job cascade')
  await harness.dispatcher.handle(batchOf(1, 4n))
  t.equal(await harness.queues.waiting('1'), 1, 'the next batch gets a job')
})
