import { randomUUID } from 'node:crypto'
import type { LogCheckpoint } from '@paylog/domain/events'
import type { Recorded } from '@paylog/event-store/codec/codec'
import t from 'tap'
import { outboundMessages } from '../../messages/outbound.ts'
import { endpointSettings } from '../../testing/eventFixtures.ts'
import { batchOf } from '../../testing/paymentFixture.ts'
import { createWorkerHarness } from '../../testing/workerHarness.ts'
import { beginning } from '../send/lanes.ts'
import { type ClaimedDelivery, dueDeliveries } from './claims.ts'
import { createDeliveries } from './deliveries.ts'
import type { AttemptResult } from './results.ts'

const leaseMs = 15_000
const endpoints = { ...endpointSettings(1, 'canonical'), ...endpointSettings(2, 'canonical') }
const harness = await createWorkerHarness(t, 'postgres', endpoints)
const workers = [createDeliveries(harness.pool, randomUUID()), createDeliveries(harness.pool, randomUUID())] as const
const ids = (claimed: readonly ClaimedDelivery[]) => claimed.map(({ id }) => id)
const later = (ms: number) => new Date(Date.now() + ms)
const claim = (worker: 0 | 1, limit: number, at = new Date(), endpoint = '1') =>
  workers[worker].claim([{ endpoint, limit, leaseMs, since: beginning }], at)

const failed: Omit<AttemptResult, 'deliveryId'> = {
  attempt: 1,
  seriesStart: 0,
  at: new Date(),
  ms: 1,
  httpStatus: 500,
  error: 'unexpected_status',
  responseBody: null,
  nextAttemptAt: later(60_000),
  pausesEndpoint: false,
}
const succeeded = { ...failed, httpStatus: 200, error: null, nextAttemptAt: null }

/** Events of one stream, from revision 0 on. */
function oneStream(count: number, firstCommit = 1n) {
  const { events, position } = batchOf(count, firstCommit)
  const [{ stream } = { stream: '' }] = events
  return { events: events.map((event, index): Recorded => ({ ...event, stream, revision: BigInt(index) })), position }
}

t.beforeEach(async () => {
  await harness.empty()
  await harness.dispatcher.start()
})

t.test(
  'one statement claims due deliveries of several endpoints, each up to its limit, the longest due first',
  async (t) => {
    await harness.dispatcher.handle(batchOf(3))
    await harness.dispatcher.handle(batchOf(3, 4n))
    const claimed = await workers[0].claim(
      [
        { endpoint: '1', limit: 4, leaseMs, since: beginning },
        { endpoint: '2', limit: 10, leaseMs, since: beginning },
      ],
      new Date(),
    )
    const own = (endpoint: string) => claimed.filter((delivery) => delivery.endpoint === endpoint)
    t.strictSame([own('1').length, own('2').length], [4, 6])
    const { rows } = await harness.pool.query<{ id: string }>(
      `select id from webhooks.deliveries where node = '1' order by created_at limit 3`,
    )
    for (const { id } of rows) t.ok(ids(own('1')).includes(id), 'the first batch is claimed first')
    t.match(own('1')[0], {
      event: 'payment.succeeded',
      attempts: 0,
      series_start: 0,
      source_revision: 2n,
      is_test: false,
    })
  },
)

t.test('a claimed delivery is claimed by nobody until its lease ends, and then by anybody', async (t) => {
  await harness.dispatcher.handle(batchOf(2))
  const claimed = ids(await claim(0, 10))
  t.equal(claimed.length, 2)
  t.strictSame(await claim(1, 10), [])
  t.strictSame(await claim(0, 10, later(leaseMs - 1_000)), [])
  t.strictSame(new Set(ids(await claim(1, 10, later(leaseMs + 1_000)))), new Set(claimed))
})

t.test('a released delivery can be claimed at once, unless another worker has claimed it since', async (t) => {
  await harness.dispatcher.handle(batchOf(1))
  const [id = ''] = ids(await claim(0, 1))
  await workers[1].release([id])
  t.strictSame(await claim(1, 1), [], 'another worker cannot release it')
  await workers[0].release([id])
  t.strictSame(ids(await claim(1, 1)), [id])
})

t.test('a worker whose lease ended cannot finish or retry what another one has claimed since', async (t) => {
  await harness.dispatcher.handle(batchOf(1))
  const [id = ''] = ids(await claim(0, 1))
  await claim(1, 1, later(leaseMs + 1_000))
  t.equal(await workers[0].finish({ deliveryId: id, ...succeeded }), undefined)
  t.equal(await workers[0].finish({ deliveryId: id, ...failed }), undefined)
  t.ok(await workers[1].finish({ deliveryId: id, ...succeeded }))
})

t.test('a worker whose claim was released meanwhile still records its result', async (t) => {
  await harness.dispatcher.handle(batchOf(1))
  const [id = ''] = ids(await claim(0, 1))
  await workers[0].release([id])
  t.ok(await workers[0].finish({ deliveryId: id, ...succeeded }))
})

t.test('what a worker without a heartbeat for five seconds has claimed is free', async (t) => {
  const dead = randomUUID()
  const beat = (seconds: number) =>
    harness.pool.query(
      `insert into webhooks.workers values ($1, now(), now() - make_interval(secs => $2))
       on conflict (id) do update set seen_at = excluded.seen_at`,
      [dead, seconds],
    )
  await harness.dispatcher.handle(batchOf(1))
  await createDeliveries(harness.pool, dead).claim([{ endpoint: '1', limit: 1, leaseMs, since: beginning }], new Date())
  await beat(3)
  t.strictSame(await claim(0, 1), [])
  await beat(6)
  t.equal((await claim(0, 1)).length, 1)
})

t.test('deliveries of a paused endpoint, and those that are not due, are not claimed', async (t) => {
  await harness.dispatcher.handle(batchOf(2))
  await harness.pool.query(`insert into webhooks.nodes (name, disabled_at) values ('1', now())`)
  t.strictSame(await claim(0, 10), [])
  await harness.pool.query('update webhooks.nodes set disabled_at = null')
  await harness.pool.query(
    `update webhooks.deliveries set next_attempt_at = now() + interval '1 second'
     where id = (select id from webhooks.deliveries where node = '1' limit 1)`,
  )
  t.equal((await claim(0, 10)).length, 1)
  t.equal((await claim(0, 10, later(1_100))).length, 1)
})

t.test('workers that claim at the same time get different deliveries without waiting for each other', async (t) => {
  await harness.dispatcher.handle(batchOf(3))
  const other = await harness.pool.connect()
  try {
    await other.query('begin')
    const { rows } = await other.query<{ id: string }>(
      `select id from webhooks.deliveries where node = '1' order by next_attempt_at limit 2 for update`,
    )
    const found = await claim(0, 10)
    t.equal(found.length, 1)
    t.notOk(rows.some(({ id }) => id === found[0]?.id))
  } finally {
    await other.query('rollback')
    other.release()
  }
  t.equal((await claim(0, 10)).length, 2)
})

t.test('a delivery waits until the earlier ones of its stream have had their first attempt', async (t) => {
  await harness.dispatcher.handle(oneStream(3))
  const [first] = await claim(0, 10)
  t.equal(first?.source_revision, 0n)
  t.strictSame(await claim(1, 10), [], 'the first attempt of the first one is in progress')
  t.equal((await claim(1, 10, new Date(), '2')).length, 1, 'another endpoint is independent')
  await workers[0].finish({ deliveryId: first?.id ?? '', ...succeeded })
  const [second] = await claim(1, 10)
  t.equal(second?.source_revision, 1n)
  await workers[1].finish({ deliveryId: second?.id ?? '', ...failed })
  const [third] = await claim(0, 10)
  t.equal(third?.source_revision, 2n, 'one that waits for its retry blocks nobody')
})

t.test('new deliveries are claimed as they are recorded, but only the first one of a stream', async (t) => {
  const at = new Date()
  const record = async (event: Recorded | undefined, from: LogCheckpoint | undefined) => {
    if (event === undefined) throw new Error('no event')
    const messages = outboundMessages(event, harness.endpoints, { projectId: 'default', projectIds: [] })
    const batch = { name: 'webhooks', from, to: event.position, messages, since: at, at }
    const recorded = await workers[0].record(batch, () => later(leaseMs))
    return recorded.map(({ isClaimed }) => isClaimed)
  }
  const [first, second] = oneStream(2).events
  t.strictSame(await record(first, undefined), [true, true])
  t.strictSame(await claim(1, 10), [])
  t.strictSame(await record(second, first?.position), [false, false])
  await harness.pool.query(`insert into webhooks.nodes (name, disabled_at) values ('2', now())`)
  t.strictSame(await record(batchOf(1, 3n).events[0], second?.position), [true, false], 'nor for a paused endpoint')
})

t.test('claims find due deliveries by index, in a small table and in a large one', async (t) => {
  const plan = async () => {
    const { rows } = await harness.pool.query<{ 'QUERY PLAN': string }>(`explain ${dueDeliveries.text}`, [
      ['1'],
      [10],
      [leaseMs],
      new Date(),
      randomUUID(),
      [beginning],
    ])
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  const check = (text: string, what: string) => {
    t.match(text, /Index Scan using deliveries_due on deliveries d/, what)
    t.notMatch(text, /Seq Scan on deliveries|Sort/, what)
  }
  check(await plan(), 'new')
  await harness.dispatcher.handle(batchOf(1))
  await harness.pool.query('vacuum analyze webhooks.deliveries')
  check(await plan(), 'nearly empty')
  await harness.dispatcher.handle(batchOf(3_000, 2n))
  await harness.pool.query('vacuum analyze webhooks.deliveries')
  check(await plan(), 'long')
})
