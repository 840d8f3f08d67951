import { matchList } from '@paylog/testing/assertions'
import { positionAt } from '@paylog/testing/positionAt'
import t from 'tap'
import { endpointSettings } from '../../testing/eventFixtures.ts'
import { batchOf } from '../../testing/paymentFixture.ts'
import { createWorkerHarness } from '../../testing/workerHarness.ts'
import { StaleCheckpointError } from '../subscriptions/checkpoint.ts'
import type { AttemptResult } from './results.ts'

const twoEndpoints = { ...endpointSettings(1, 'canonical'), ...endpointSettings(2, 'canonical') }
const harness = await createWorkerHarness(t, 'postgres', twoEndpoints)
t.beforeEach(() => harness.empty())

const count = async () => {
  const { rows } = await harness.pool.query<{ count: number }>('select count(*)::int as count from webhooks.deliveries')
  return rows[0]?.count
}

t.test('handling a batch twice inserts each delivery once', async (t) => {
  t.equal(await harness.dispatcher.start(), undefined)
  const batch = batchOf(3)
  await harness.dispatcher.handle(batch)
  t.equal(await count(), 6)
  await harness.dispatcher.handle(batch)
  t.equal(await count(), 6)
  t.strictSame(await harness.dispatcher.start(), positionAt(3n))
})

t.test('an empty batch only moves the checkpoint', async (t) => {
  await harness.dispatcher.start()
  await harness.dispatcher.handle({ events: [], position: positionAt(900n, 899n) })
  t.strictSame(await harness.dispatcher.start(), positionAt(900n, 899n))
  t.equal(await count(), 0)
})

t.test('a process with a stale checkpoint changes nothing, and can read the current one', async (t) => {
  await harness.dispatcher.start()
  await harness.dispatcher.handle(batchOf(1))
  const to = positionAt(50n)
  const from = positionAt(1n)
  await harness.deliveries.record({ name: 'webhooks', from, to, messages: [], since: new Date(), at: new Date() })
  await t.rejects(harness.dispatcher.handle(batchOf(1, 2n)), StaleCheckpointError)
  t.equal(await count(), 2)
  t.strictSame(await harness.dispatcher.start(), to)
  await harness.dispatcher.handle(batchOf(1, 51n))
  t.equal(await count(), 4)
})

t.test('text that Postgres rejects does not stop the subscription', async (t) => {
  await harness.dispatcher.start()
  const { events, position } = batchOf(1)
  const [event] = events
  if (event?.type !== 'PaymentSucceeded') throw new Error('unexpected')
  const bad = 'a\0b\ud800'
  const payer = { ...event.data.payer, id: bad }
  const metadata = { ...event.metadata, correlationId: bad, causationId: bad }
  const data = { ...event.data, payer, payment_id: bad }
  await harness.dispatcher.handle({ events: [{ ...event, data, metadata }], position })
  const { rows } = await harness.pool.query(
    'select distinct user_id, payment_id, correlation_id, causation_id from webhooks.deliveries',
  )
  const good = 'a\ufffdb\ufffd'
  t.strictSame(rows, [{ user_id: good, payment_id: good, correlation_id: good, causation_id: good }])
})

/** Ids of new deliveries for both endpoints, those of the first one before the others. */
async function newDeliveries(count: number): Promise<string[]> {
  await harness.dispatcher.start()
  await harness.dispatcher.handle(batchOf(count))
  const { rows } = await harness.pool.query<{ id: string }>('select id from webhooks.deliveries order by node, id')
  return rows.map(({ id }) => id)
}

const delivered: Omit<AttemptResult, 'deliveryId'> = {
  attempt: 1,
  seriesStart: 0,
  at: new Date(),
  ms: 1,
  httpStatus: 200,
  error: null,
  responseBody: 'ok',
  nextAttemptAt: null,
  pausesEndpoint: false,
}
const failed = { ...delivered, httpStatus: 500, error: 'unexpected_status', nextAttemptAt: new Date() }

t.test('an attempt is recorded once, and later results are ignored', async (t) => {
  const [deliveryId = ''] = await newDeliveries(1)
  const { finish } = harness.deliveries
  t.ok(await finish({ deliveryId, ...failed, ms: 5, responseBody: 'a\0b' }))
  t.notOk(await finish({ deliveryId, ...delivered }), 'the same attempt')
  t.match(await harness.row(deliveryId), { status: 'pending', attempts: 1, last_http_status: 500 })
  t.ok(await finish({ deliveryId, ...delivered, attempt: 2, ms: 9 }))
  t.notOk(await finish({ deliveryId, ...failed, attempt: 3 }), 'a finished delivery')
  matchList(t, await harness.attempts(deliveryId), [
    { attempt: 1, ms: 5, http_status: 500, error: 'unexpected_status', response_body: 'a\ufffdb' },
    { attempt: 2, ms: 9, http_status: 200, error: null },
  ])
})

t.test('a finished delivery that is read from the log again is not created again', async (t) => {
  await harness.dispatcher.start()
  const batch = batchOf(2)
  await harness.dispatcher.handle(batch)
  const { rows } = await harness.pool.query<{ id: string }>('select id from webhooks.deliveries')
  for (const { id } of rows) await harness.deliveries.finish({ deliveryId: id, ...delivered })
  await harness.pool.query('delete from webhooks.checkpoints')
  await harness.dispatcher.start()
  await harness.dispatcher.handle(batch)
  t.equal(await count(), 0)
  const { rows: all } = await harness.pool.query('select status, attempts from webhooks.all_deliveries')
  t.strictSame(all, Array(4).fill({ status: 'succeeded', attempts: 1 }))
})

t.test('concurrent results are recorded together, each with its own values', async (t) => {
  const ids = await newDeliveries(100)
  const nextAttemptAt = new Date(Date.now() + 60_000)
  const endOf = (index: number) =>
    index % 2 === 0
      ? { ...delivered, ms: index, responseBody: `response ${index}` }
      : { ...delivered, httpStatus: null, error: 'dns', responseBody: null, nextAttemptAt }
  const finished = await Promise.all(
    ids.map((deliveryId, index) => harness.deliveries.finish({ deliveryId, ...endOf(index) })),
  )
  t.equal(finished.filter((end) => end !== undefined).length, 200)
  for (const index of [0, 1, 98, 199]) {
    const id = ids[index] ?? ''
    const { ms, httpStatus, error, responseBody } = endOf(index)
    const status = error === null ? 'succeeded' : 'pending'
    t.match(await harness.row(id), { status, attempts: 1, last_http_status: httpStatus, last_error: error })
    matchList(t, await harness.attempts(id), [{ ms, response_body: responseBody }])
  }
})

t.test('simultaneous 410 responses report each paused endpoint once', async (t) => {
  const ids = await newDeliveries(3)
  const gone = { ...failed, httpStatus: 410, error: 'gone', pausesEndpoint: true }
  const ends = await Promise.all(ids.map((deliveryId) => harness.deliveries.finish({ deliveryId, ...gone })))
  t.strictSame(
    ends.map((end) => end?.pausedEndpoint),
    [true, false, false, true, false, false],
  )
  const { rows } = await harness.pool.query('select name from webhooks.nodes where disabled_at is not null order by 1')
  t.strictSame(rows, [{ name: '1' }, { name: '2' }])
})
