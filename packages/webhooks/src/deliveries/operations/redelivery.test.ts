import { randomUUID } from 'node:crypto'
import { waitFor } from '@paylog/testing/waitFor'
import type { PoolClient } from 'pg'
import t from 'tap'
import { batchOf } from '../../testing/paymentFixture.ts'
import { createWorkerHarness, type WorkerHarness } from '../../testing/workerHarness.ts'
import { recordResults } from '../tables/results.ts'
import { deliveriesOfStreams } from './deliveriesOfStreams.ts'
import { findFailed, redeliver, redeliverAllFailed } from './redelivery.ts'

const endpoint = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'http://127.0.0.1:9' }

const end = { seriesStart: 0, ms: 1, responseBody: null, nextAttemptAt: null, pausesEndpoint: false }

async function fail({ pool, deliveries }: WorkerHarness, id: string, at: string, attempt = 1): Promise<void> {
  const failure = {
    ...end,
    attempt,
    seriesStart: attempt - 1,
    at: new Date(at),
    httpStatus: 500,
    error: 'unexpected_status',
  }
  if (!(await deliveries.finish({ deliveryId: id, ...failure }))) throw new Error('not recorded')
  // A `Date` has no microseconds.
  await pool.query('update webhooks.finished_deliveries set last_attempt_at = $2 where id = $1', [id, at])
}

/** Deliveries, some of them failed. @returns the ids of the failed ones, oldest first */
async function startWith(t: Parameters<typeof createWorkerHarness>[0], failedAt: readonly string[]) {
  const harness = await createWorkerHarness(t, 'postgres', endpoint)
  await harness.dispatcher.start()
  await harness.dispatcher.handle(batchOf(failedAt.length + 1))
  await harness.pool.query(`insert into webhooks.nodes (name) values ('1')`)
  const { rows } = await harness.pool.query<{ id: string }>(
    'select id from webhooks.deliveries order by source_revision, id',
  )
  const ids = rows.map(({ id }) => id).slice(0, failedAt.length)
  for (const [index, id] of ids.entries()) await fail(harness, id, failedAt[index] ?? '')
  return { harness, ids }
}

t.test('redeliverAllFailed sends each failed delivery up to the found end again, once', async (t) => {
  const times = ['2026-01-02T03:04:05Z', '2999-01-02T03:04:05.000600Z']
  const { harness, ids } = await startWith(t, times)
  const query = { endpoint: '1', since: undefined }
  const found = await findFailed(harness.pool, query)
  t.match(found, { count: 2, is_held: false, until: Date }, "by the worker's clock")
  const again = async () => {
    const range = { ...query, until: found?.until ?? new Date(0) }
    const ids: string[] = []
    for await (const batch of redeliverAllFailed(harness.pool, range, () => new Date()))
      ids.push(...batch.map(({ id }) => id))
    return ids
  }
  t.strictSame(new Set(await again()), new Set(ids))
  t.strictSame(await again(), [], 'they are pending')
  await fail(harness, ids[0] ?? '', '2999-01-02T03:04:06Z', 2)
  t.strictSame(await again(), [], 'later failures are excluded')
  t.equal((await redeliver(harness.pool, ids, new Date())).length, 2, 'redelivering by id ignores the status')
})

t.test('findFailed returns no failures for a new endpoint, and undefined for an unknown one', async (t) => {
  const { harness } = await startWith(t, [])
  t.strictSame(await findFailed(harness.pool, { endpoint: '1', since: undefined }), {
    count: 0,
    until: null,
    is_held: false,
  })
  t.equal(await findFailed(harness.pool, { endpoint: '2', since: undefined }), undefined)
})

/** What moves a delivery from one table to the other while it is redelivered. */
const moves: Record<string, { readonly isFinished: boolean; move(client: PoolClient, id: string): Promise<unknown> }> =
  {
    'another redelivery moves': { isFinished: true, move: (client, id) => redeliver(client, [id], new Date()) },
    'the worker finishes': {
      isFinished: false,
      move(client, deliveryId) {
        const success = { ...end, deliveryId, attempt: 1, at: new Date(), httpStatus: 200, error: null }
        return recordResults(client, randomUUID(), [success])
      },
    },
  }

for (const [name, { isFinished, move }] of Object.entries(moves))
  t.test(`redeliver finds a delivery that ${name} at the same time`, async (t) => {
    const { harness, ids } = await startWith(t, ['2026-01-02T03:04:05Z'])
    const { pool } = harness
    const { rows } = await pool.query<{ id: string }>('select id from webhooks.deliveries')
    const id = (isFinished ? ids : rows.map((row) => row.id))[0] ?? ''
    const other = await pool.connect()
    await other.query('begin')
    await move(other, id)
    const redelivering = redeliver(pool, [id], new Date())
    const lock = 'select from pg_locks where not granted'
    await waitFor(async () => (await pool.query(lock)).rowCount === 1, { what: 'the wait for the delivery' })
    await other.query('commit')
    other.release()
    t.match(await redelivering, [{ id, endpoint: '1' }])
    t.equal((await pool.query('select from webhooks.deliveries where id = $1', [id])).rowCount, 1, 'it is pending')
  })

t.test('redeliverAllFailed goes on with the others while another operator redelivers its first batch', async (t) => {
  const { harness, ids } = await startWith(t, ['2026-01-02T03:04:05Z', '2026-01-02T03:04:06Z'])
  const [first = '', second] = ids
  const other = await harness.pool.connect()
  await other.query('begin')
  await redeliver(other, [first], new Date())
  const range = { endpoint: '1', since: undefined, until: new Date() }
  const redelivered: string[] = []
  for await (const batch of redeliverAllFailed(harness.pool, range, () => new Date()))
    redelivered.push(...batch.map(({ id }) => id))
  t.strictSame(redelivered, [second])
  await other.query('commit')
  other.release()
})

t.test('deliveriesOfStreams returns each delivery once while deliveries move between the tables', async (t) => {
  const { harness, ids } = await startWith(t, ['2026-01-02T03:04:05Z', '2026-01-02T03:04:06Z'])
  const { pool } = harness
  const { rows } = await pool.query<{ stream: string }>('select source_stream as stream from webhooks.all_deliveries')
  const streams = rows.map(({ stream }) => stream)
  // Moves the deliveries after the first statement.
  const db = {
    async query(text: string, values: unknown[]) {
      const result = await pool.query(text, values)
      await redeliver(pool, ids, new Date())
      return result
    },
  }
  const found = await deliveriesOfStreams(db as typeof pool, streams)
  t.equal(found.length, 3)
})
