import { matchList } from '@paylog/testing/matchList'
import t from 'tap'
import { StaleCheckpointError } from '../subscriptions/checkpoint.ts'
import { batchOf, createRig, type Rig } from '../testing/rig.ts'
import { graceMs } from './recordBatch.ts'

const twoNodes = {
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: 'http://127.0.0.1:9',
  WEBHOOK_2_ENABLED: 'true',
  WEBHOOK_2_URL: 'http://127.0.0.1:9',
}

const count = async ({ pool }: Rig) => {
  const { rows } = await pool.query<{ count: number }>('select count(*)::int as count from webhooks.deliveries')
  return rows[0]?.count
}

t.test('a batch that is handled twice inserts nothing twice', async (t) => {
  const rig = await createRig(t, 'postgres', twoNodes)
  t.equal(await rig.dispatcher.start(), undefined)
  const batch = batchOf(3)
  await rig.dispatcher.handle(batch)
  t.equal(await count(rig), 6)
  await rig.dispatcher.handle(batch)
  t.equal(await count(rig), 6)
  t.strictSame(await rig.dispatcher.start(), { commit: 3n, prepare: 3n })
})

t.test('an empty batch moves the checkpoint alone', async (t) => {
  const rig = await createRig(t, 'postgres', twoNodes)
  await rig.dispatcher.start()
  await rig.dispatcher.handle({ events: [], position: { commit: 900n, prepare: 899n } })
  t.strictSame(await rig.dispatcher.start(), { commit: 900n, prepare: 899n })
  t.equal(await count(rig), 0)
})

t.test('a runner that lost its place changes nothing, and finds its place again', async (t) => {
  const rig = await createRig(t, 'postgres', twoNodes)
  await rig.dispatcher.start()
  await rig.dispatcher.handle(batchOf(1))
  const to = { commit: 50n, prepare: 50n }
  const from = { commit: 1n, prepare: 1n }
  await rig.deliveries.record({ name: 'webhooks', from, to, messages: [], at: new Date() })
  await t.rejects(rig.dispatcher.handle(batchOf(1, 2n)), StaleCheckpointError)
  t.equal(await count(rig), 2)
  t.strictSame(await rig.dispatcher.start(), to)
  await rig.dispatcher.handle(batchOf(1, 51n))
  t.equal(await count(rig), 4)
})

t.test('text that Postgres refuses does not stop the subscription', async (t) => {
  const rig = await createRig(t, 'postgres', twoNodes)
  await rig.dispatcher.start()
  const { events, position } = batchOf(1)
  const [event] = events
  if (event?.type !== 'PaymentSucceeded') throw new Error('unexpected')
  const bad = 'a\0b\ud800'
  const payer = { ...event.data.payer, id: bad }
  const metadata = { ...event.metadata, correlationId: bad, causationId: bad }
  const data = { ...event.data, payer, payment_id: bad }
  await rig.dispatcher.handle({ events: [{ ...event, data, metadata }], position })
  const { rows } = await rig.pool.query(
    'select distinct user_id, payment_id, correlation_id, causation_id from webhooks.deliveries',
  )
  const good = 'a\ufffdb\ufffd'
  t.strictSame(rows, [{ user_id: good, payment_id: good, correlation_id: good, causation_id: good }])
})

t.test('an attempt is recorded once, whoever comes late', async (t) => {
  const rig = await createRig(t, 'postgres', twoNodes)
  await rig.dispatcher.start()
  await rig.dispatcher.handle(batchOf(1))
  const [found] = await rig.deliveries.overdue('1', new Date(Date.now() + 60_000), 10)
  if (found === undefined) throw new Error('no delivery')
  const at = new Date()
  const common = { ...found, at, disablesNode: false }
  const failure = { ...common, ms: 5, httpStatus: 500, error: 'unexpected_status', responseBody: 'a\0b' }
  const success = { ...common, ms: 9, httpStatus: 200, error: null, responseBody: 'ok' }
  t.ok(await rig.deliveries.due(found))
  t.ok(await rig.deliveries.finish({ ...failure, status: 'pending', nextAttemptAt: at }))
  t.notOk(await rig.deliveries.finish({ ...success, status: 'succeeded', nextAttemptAt: null }))
  t.equal(await rig.deliveries.due(found), undefined)
  t.match(await rig.row(found.deliveryId), { status: 'pending', attempts: 1, last_http_status: 500 })
  const second = { ...found, attempt: 2 }
  t.ok(await rig.deliveries.due(second))
  t.ok(await rig.deliveries.finish({ ...success, ...second, status: 'succeeded', nextAttemptAt: null }))
  t.equal(await rig.deliveries.due({ ...found, attempt: 3 }), undefined)
  matchList(t, await rig.attempts(found.deliveryId), [
    { attempt: 1, http_status: 500, response_body: 'a\ufffdb' },
    { attempt: 2, http_status: 200, error: null },
  ])
})

t.test('a row is overdue only some time after its next attempt, so a sweep keeps the pauses', async (t) => {
  const rig = await createRig(t, 'postgres', twoNodes)
  await rig.dispatcher.start()
  await rig.dispatcher.handle(batchOf(1))
  const [found] = await rig.deliveries.overdue('1', new Date(Date.now() + 60_000), 10)
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
    t.ok(await rig.deliveries.finish({ ...found, ...failure, attempt, at, nextAttemptAt }))
    const overdueFrom = new Date(nextAttemptAt.getTime() + graceMs)
    const before = new Date(overdueFrom.getTime() - 1)
    t.strictSame(await rig.deliveries.overdue('1', before, 10), [], `${pauseMs} ms are not over`)
    matchList(t, await rig.deliveries.overdue('1', overdueFrom, 10), [{ attempt: attempt + 1 }])
    at = overdueFrom
  }
})

t.test('two sweeps at once hand out different rows, and do not wait for each other', async (t) => {
  const rig = await createRig(t, 'postgres', twoNodes)
  await rig.dispatcher.start()
  await rig.dispatcher.handle(batchOf(3))
  const later = new Date(Date.now() + 5_000)
  const other = await rig.pool.connect()
  try {
    await other.query('begin')
    const { rows } = await other.query<{ id: string }>(
      `select id from webhooks.deliveries where node = '1' order by sweep_at, id limit 2 for update`,
    )
    const handed = await rig.deliveries.overdue('1', later, 10)
    t.equal(handed.length, 1)
    t.notOk(rows.some(({ id }) => id === handed[0]?.deliveryId))
  } finally {
    await other.query('rollback')
    other.release()
  }
  t.equal((await rig.deliveries.overdue('1', later, 10)).length, 2)
})

t.test('overdue rows are handed out oldest first, per node, and then left alone for a while', async (t) => {
  const rig = await createRig(t, 'postgres', twoNodes)
  await rig.dispatcher.start()
  await rig.dispatcher.handle(batchOf(3))
  t.strictSame(await rig.deliveries.overdue('1', new Date(), 10), [], 'a job may still come')
  const later = new Date(Date.now() + 5_000)
  t.equal((await rig.deliveries.overdue('1', later, 2)).length, 2)
  matchList(t, await rig.deliveries.overdue('1', later, 2), [{ attempt: 1 }])
  t.strictSame(await rig.deliveries.overdue('1', later, 2), [])
  t.equal((await rig.deliveries.overdue('2', later, 10)).length, 3)
  t.equal((await rig.deliveries.overdue('1', new Date(later.getTime() + 16_000), 10)).length, 3)
})
