import { positionAt } from '@paylog/testing/positionAt'
import t from 'tap'
import { endpointSettings } from '../../testing/eventFixtures.ts'
import { notificationReceived } from '../../testing/paymentFixture.ts'
import { createWorkerHarness, noErasures, type WorkerHarness } from '../../testing/workerHarness.ts'
import type { MappedBatch } from '../tables/recordDeliveries.ts'
import { createDispatcher } from './dispatcher.ts'

const rawEndpoint = endpointSettings(1, 'raw')
const mebibyte = 1024 * 1024
const large = (commit: bigint) => notificationReceived(commit, JSON.stringify('x'.repeat(3 * mebibyte)))

/** A dispatcher on the harness's own database and queue, with the batches it records. */
function recordingDispatcher(
  { deliveries, endpoints }: WorkerHarness,
  beforeRecord: (count: number) => void = () => undefined,
) {
  const batches: MappedBatch[] = []
  const woken: string[] = []
  const dispatched: bigint[] = []
  const dispatcher = createDispatcher({
    deliveries: {
      ...deliveries,
      record(batch) {
        batches.push(batch)
        beforeRecord(batches.length)
        return deliveries.record(batch)
      },
    },
    deliverer: { reserve: () => ({ leaseOf: () => undefined, take: () => undefined }) },
    wakeUps: { wake: (endpoint) => void woken.push(endpoint) },
    endpoints,
    projects: { projectId: 'default', projectIds: [] },
    erasures: noErasures,
    now: () => new Date(),
    onDispatched: (events) => dispatched.push(...events.map(({ position }) => position.commit)),
  })
  return { batches, woken, dispatched, dispatcher }
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
  const four = Object.assign({}, ...[1, 2, 3, 4].map((n) => endpointSettings(n, 'raw')))
  const harness = await createWorkerHarness(t, 'postgres', four)
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
  const { dispatcher, dispatched } = recordingDispatcher(harness, (recorded) => {
    if (recorded === 2) throw new Error('the database is gone')
  })
  await dispatcher.start()
  const events = [2n, 4n, 6n].map(large)
  const position = positionAt(6n, 5n)
  await t.rejects(dispatcher.handle({ events, position }), /gone/)
  t.strictSame(await dispatcher.start(), positionAt(4n, 3n))
  t.strictSame(dispatched, [2n, 4n])
  await dispatcher.handle({ events: events.slice(2), position })
  t.equal(await count(harness), 3)
  t.strictSame(dispatched, [2n, 4n, 6n], 'each event is passed on once')
})

t.test('the dispatcher passes on events that lead to no delivery', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', {})
  const { dispatcher, dispatched } = recordingDispatcher(harness)
  await dispatcher.start()
  await dispatcher.handle({ events: [notificationReceived(2n, '{}')], position: positionAt(2n, 1n) })
  t.strictSame(dispatched, [2n])
  t.equal(await count(harness), 0)
})

t.test('the dispatcher wakes other workers for what this process does not send', async (t) => {
  const harness = await createWorkerHarness(t, 'postgres', rawEndpoint)
  const { dispatcher, woken } = recordingDispatcher(harness)
  await dispatcher.start()
  const batch = { events: [notificationReceived(2n, '{}')], position: positionAt(2n, 1n) }
  await dispatcher.handle(batch)
  t.strictSame(woken, ['1'])
  await dispatcher.handle(batch)
  t.strictSame(woken, ['1'], 'nothing new')
})
