import { matchList } from '@paylog/testing/assertions'
import { positionAt } from '@paylog/testing/positionAt'
import t from 'tap'
import { StaleCheckpointError } from '../subscriptions/checkpoint.ts'
import { batchOf, createWorkerHarness } from '../testing/workerHarness.ts'
import { graceMs } from './recordDeliveries.ts'

const twoEndpoints = {
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: 'http://127.0.0.1:9',
  WEBHOOK_2_ENABLED: 'true',
  WEBHOOK_2_URL: 'http://127.0.0.1:9',
}

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
  await harness.deliveries.record({ name: 'webhooks', from, to, messages: [], at: new Date() })
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

t.test('an attempt is recorded once, and later results are ignored', async (t) => {
  await harness.dispatcher.start()
  await harness.dispatcher.handle(batchOf(1))
  const [found] = await harness.deliveries.overdue('1', new Date(Date.now() + 60_000), 10)
  if (found === undefined) throw new Error('no delivery')
  const at = new Date()
  const common = { ...found, at, disablesNode: false }
  const failure = { ...common, ms: 5, httpStatus: 500, error: 'unexpected_status', responseBody: 'a\0b' }
  const success = { ...common, ms: 9, httpStatus: 200, error: null, responseBody: 'ok' }
  t.ok(await harness.deliveries.due(found))
  t.ok(await harness.deliveries.finish({ ...failure, status: 'pending', nextAttemptAt: at }))
  t.notOk(await harness.deliveries.finish({ ...success, status: 'succeeded', nextAttemptAt: null }))
  t.equal(await harness.deliveries.due(found), undefined)
  t.match(await harness.row(found.deliveryId), { status: 'pending', attempts: 1, last_http_status: 500 })
  const second = { ...found, attempt: 2 }
  t.ok(await harness.deliveries.due(second))
  t.ok(await harness.deliveries.finish({ ...success, ...second, status: 'succeeded', nextAttemptAt: null }))
  t.equal(await harness.deliveries.due({ ...found, attempt: 3 }), undefined)
  matchList(t, await harness.attempts(found.deliveryId), [
    { attempt: 1, http_status: 500, response_body: 'a\ufffdb' },
    { attempt: 2, http_status: 200, error: null },
  ])
})

t.test('a row becomes overdue only after its next attempt time plus the grace period', async (t) => {
  await harness.dispatcher.start()
  await harness.dispatcher.handle(batchOf(1))
  const [found] = await harness.deliveries.overdue('1', new Date(Date.now() + 60_000), 10)
  if (found === undefined) throw new Error('no delivery')
  let at = new Date()
  for (const [index, pauseMs] of [5_000, 10_000, 20_000].entries()) {
    const attempt = index + 1
    const nextAttemptAt = new Date(at.getTime() + pauseMs)
    const failure = {
      ms: 5,
      httpStatus: 500,
      error: 'unexpected_status',
      responseBody: null,
      status: 'pending',
      disablesNode: false,
    } as const
    t.ok(await harness.deliveries.finish({ ...found, ...failure, attempt, at, nextAttemptAt }))
    const overdueFrom = new Date(nextAttemptAt.getTime() + graceMs)
    const before = new Date(overdueFrom.getTime() - 1)
    t.strictSame(await harness.deliveries.overdue('1', before, 10), [], `not overdue before the end of ${pauseMs} ms`)
    matchList(t, await harness.deliveries.overdue('1', overdueFrom, 10), [{ attempt: attempt + 1 }])
    at = overdueFrom
  }
})

t.test('concurrent requeuers get different rows without waiting for each other', async (t) => {
  await harness.dispatcher.start()
  await harness.dispatcher.handle(batchOf(3))
  const later = new Date(Date.now() + 5_000)
  const other = await harness.pool.connect()
  try {
    await other.query('begin')
    const { rows } = await other.query<{ id: string }>(
      `select id from webhooks.deliveries where node = '1' order by requeue_at, id limit 2 for update`,
    )
    const found = await harness.deliveries.overdue('1', later, 10)
    t.equal(found.length, 1)
    t.notOk(rows.some(({ id }) => id === found[0]?.deliveryId))
  } finally {
    await other.query('rollback')
    other.release()
  }
  t.equal((await harness.deliveries.overdue('1', later, 10)).length, 2)
})

t.test('overdue returns the rows of an endpoint oldest first, and not again within the interval', async (t) => {
  await harness.dispatcher.start()
  await harness.dispatcher.handle(batchOf(3))
  t.strictSame(await harness.deliveries.overdue('1', new Date(), 10), [], 'new rows are within the grace period')
  const later = new Date(Date.now() + 5_000)
  t.equal((await harness.deliveries.overdue('1', later, 2)).length, 2)
  matchList(t, await harness.deliveries.overdue('1', later, 2), [{ attempt: 1 }])
  t.strictSame(await harness.deliveries.overdue('1', later, 2), [])
  t.equal((await harness.deliveries.overdue('2', later, 10)).length, 3)
  t.equal((await harness.deliveries.overdue('1', new Date(later.getTime() + 16_000), 10)).length, 3)
})

/** Ids of new deliveries for both endpoints, those of the first one before the others. */
async function newDeliveries(count: number): Promise<string[]> {
  await harness.dispatcher.start()
  await harness.dispatcher.handle(batchOf(count))
  const { rows } = await harness.pool.query<{ id: string }>('select id from webhooks.deliveries order by node, id')
  return rows.map(({ id }) => id)
}

const delivered = {
  at: new Date(),
  ms: 1,
  httpStatus: 200,
  error: null,
  responseBody: 'ok',
  status: 'succeeded',
  nextAttemptAt: null,
  disablesNode: false,
} as const

t.test('concurrent results are recorded together, each with its own values', async (t) => {
  const ids = await newDeliveries(100)
  const nextAttemptAt = new Date(Date.now() + 60_000)
  const endOf = (index: number) =>
    index % 2 === 0
      ? { ...delivered, ms: index, responseBody: `response ${index}` }
      : { ...delivered, httpStatus: null, error: 'dns', responseBody: null, status: 'pending' as const, nextAttemptAt }
  const finished = await Promise.all(
    ids.map((deliveryId, index) => harness.deliveries.finish({ deliveryId, attempt: 1, ...endOf(index) })),
  )
  t.equal(finished.filter((end) => end !== undefined).length, 200)
  for (const index of [0, 1, 98, 199]) {
    const id = ids[index] ?? ''
    const { ms, httpStatus, error, responseBody, status } = endOf(index)
    t.match(await harness.row(id), { status, attempts: 1, last_http_status: httpStatus, last_error: error })
    const { rows } = await harness.pool.query(
      'select ms, response_body from webhooks.attempts where delivery_id = $1',
      [id],
    )
    t.strictSame(rows, [{ ms, response_body: responseBody }])
  }
})

t.test('of two simultaneous results of one attempt, one is recorded and the next attempt follows it', async (t) => {
  const [deliveryId = ''] = await newDeliveries(3)
  const failed = { ...delivered, httpStatus: 500, error: 'unexpected_status', status: 'pending' as const }
  const nextAttemptAt = new Date()
  const ends = await Promise.all([
    harness.deliveries.finish({ deliveryId, attempt: 1, ...failed, nextAttemptAt }),
    harness.deliveries.finish({ deliveryId, attempt: 1, ...delivered }),
    harness.deliveries.finish({ deliveryId, attempt: 2, ...delivered }),
  ])
  t.strictSame(ends, [{ disabledNode: false }, undefined, { disabledNode: false }])
  matchList(t, await harness.attempts(deliveryId), [{ http_status: 500 }, { http_status: 200 }])
  t.match(await harness.row(deliveryId), { status: 'succeeded', attempts: 2 })
})

t.test('a row that the database rejects does not fail the others of its batch', async (t) => {
  const ids = await newDeliveries(5)
  const tooLate = new Date(8.64e15)
  const results = await Promise.allSettled(
    ids.map((deliveryId, index) =>
      harness.deliveries.finish({ deliveryId, attempt: 1, ...delivered, ...(index === 3 ? { at: tooLate } : {}) }),
    ),
  )
  t.strictSame(
    results.map(({ status }) => status),
    ids.map((_, index) => (index === 3 ? 'rejected' : 'fulfilled')),
  )
  t.match(await harness.row(ids[3] ?? ''), { status: 'pending', attempts: 0 })
  t.strictSame(await harness.attempts(ids[3] ?? ''), [])
  t.match(await harness.row(ids[4] ?? ''), { status: 'succeeded' })
})

t.test('concurrent lookups each get their own delivery', async (t) => {
  const [first = '', second = '', third = ''] = await newDeliveries(2)
  await harness.deliveries.finish({ deliveryId: second, attempt: 1, ...delivered })
  await harness.pool.query('update webhooks.deliveries set body = id where id = any ($1)', [[first, second, third]])
  const bodies = await Promise.all(
    [first, second, third, 'no-id'].map((deliveryId) =>
      harness.deliveries.due({ deliveryId, attempt: 1 }).then(
        (due) => due?.body,
        () => 'failed',
      ),
    ),
  )
  t.strictSame(bodies, [first, undefined, third, 'failed'])
})

t.test('simultaneous 410 responses report each paused endpoint once', async (t) => {
  const ids = await newDeliveries(3)
  const gone = { ...delivered, httpStatus: 410, error: 'gone', status: 'pending' as const, disablesNode: true }
  const ends = await Promise.all(
    ids.map((deliveryId) => harness.deliveries.finish({ deliveryId, attempt: 1, ...gone })),
  )
  t.strictSame(
    ends.map((end) => end?.disabledNode),
    [true, false, false, true, false, false],
  )
  const { rows } = await harness.pool.query('select name from webhooks.nodes where disabled_at is not null order by 1')
  t.strictSame(rows, [{ name: '1' }, { name: '2' }])
})
