import { recordStatus } from '@paylog/domain/payments/statusReports'
import { positionAt } from '@paylog/testing/positionAt'
import type { Pool } from 'pg'
import t from 'tap'
import { payments } from '../payments/projection.ts'
import { makeTable } from '../tables/tables.ts'
import { addPaymentTo, createLogFixture, guest, type LogFixture, user } from '../testing/logFixture.ts'
import { noErasures } from '../testing/noErasures.ts'
import { readModelDatabase, resetCheckpoints } from '../testing/projectionHarness.ts'
import { createApplier } from './applier.ts'
import { liveCheckpoint, recordStopped } from './checkpoints.ts'

const succeeded = {
  occurred_at: '2026-03-01T11:00:00.000Z',
  provider_time: '2026-03-01T11:00:00.000Z',
  status: 'succeeded' as const,
  provider_event_id: 'evt_1',
  provider_intent_id: null,
  provider_payment_id: 'ch_1',
  amount_cents: null,
  currency: null,
}
const processing = { ...succeeded, status: 'processing' as const, provider_event_id: 'evt_0' }

const applierOf = (pool: Pool, version = 1) =>
  createApplier({ pool, projection: payments, version, source: noErasures })

async function tableOf(pool: Pool, table = 'payments_v1'): Promise<string[]> {
  const { rows } = await pool.query(`select to_jsonb(t) as row
    from read_models.${table} as t order by id`)
  return rows.map(({ row }) => JSON.stringify(row))
}

/** Where each row is stored. The place changes with every write, even of the same values. */
async function placesOf(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ place: string }>(
    'select ctid::text as place from read_models.payments_v1 order by id',
  )
  return rows.map(({ place }) => place)
}

function someHistory(log: LogFixture): void {
  const ids = [addPaymentTo(log, user('u1')), addPaymentTo(log, guest('g@example.com')), addPaymentTo(log)]
  for (const id of ids.slice(1)) log.decide(id, (state) => recordStatus(processing, state))
  for (const id of ids.slice(1)) log.decide(id, (state) => recordStatus(succeeded, state))
}

t.test('a batch and its checkpoint are written together', async (t) => {
  const { pool } = await readModelDatabase(t)
  t.same((await liveCheckpoint(pool, 'payments'))?.position, undefined)
  const log = createLogFixture()
  someHistory(log)
  const applier = applierOf(pool)
  t.equal(await applier.start(), undefined)
  await applier.apply(log.batch())
  t.equal((await tableOf(pool)).length, 3)
  t.same((await liveCheckpoint(pool, 'payments'))?.position, log.batch().position)
  t.same(await applierOf(pool).start(), log.batch().position, 'another applier continues from there')
})

t.test('a failed batch leaves neither rows nor checkpoint', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  someHistory(log)
  const applier = applierOf(pool)
  await applier.start()
  await pool.query("alter table read_models.payments_v1 add constraint broken check (status <> 'succeeded')")
  await t.rejects(applier.apply(log.batch()), /broken/)
  t.same(await tableOf(pool), [])
  t.equal(await applier.start(), undefined)
  await pool.query('alter table read_models.payments_v1 drop constraint broken')
  await applier.apply(log.batch())
  t.equal((await tableOf(pool)).length, 3, 'the same applier continues after the fault')
})

t.test('a repeated batch changes nothing, with the current or an older checkpoint', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  someHistory(log)
  const applier = applierOf(pool)
  await applier.start()
  await applier.apply(log.batch())
  const rows = await tableOf(pool)
  const places = await placesOf(pool)
  await applier.apply(log.batch())
  await applier.apply(log.batch(0, 2))
  t.same(await tableOf(pool), rows)
  t.same((await liveCheckpoint(pool, 'payments'))?.position, log.batch().position, 'the checkpoint does not move back')

  await resetCheckpoints(pool)
  const again = applierOf(pool)
  await again.start()
  for (let index = 0; index < log.events.length; index += 1) {
    await again.apply(log.batch(index, index + 1))
    t.same(await tableOf(pool), rows, 'an old revision never replaces a newer one')
  }
  await resetCheckpoints(pool)
  await again.start()
  await again.apply(log.batch())
  t.same(await placesOf(pool), places, 'no row is written again')
})

t.test('a stale applier fails and writes nothing', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  const [ours, theirs] = [applierOf(pool), applierOf(pool)]
  await ours.start()
  await theirs.start()
  addPaymentTo(log, user('u1'))
  await ours.apply(log.batch())
  addPaymentTo(log, user('u2'))
  await t.rejects(theirs.apply(log.batch(2)), /was moved meanwhile/)
  t.equal((await tableOf(pool)).length, 1)
  await theirs.start()
  await theirs.apply(log.batch(2))
  t.equal((await tableOf(pool)).length, 2)
})

t.test('concurrent appliers neither lose nor repeat an event', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  for (let index = 0; index < 40; index++) someHistory(log)

  async function run(applier: ReturnType<typeof applierOf>, size: number): Promise<void> {
    let from = await applier.start()
    for (;;) {
      const index = log.events.findIndex(({ position }) => from === undefined || position.commit > from.commit)
      if (index === -1) return
      await applier.apply(log.batch(index, index + size)).catch(() => undefined)
      from = await applier.start()
    }
  }
  await Promise.all([run(applierOf(pool), 7), run(applierOf(pool), 11)])
  const rows = await tableOf(pool)
  t.equal(rows.length, 120)
  await pool.query('truncate read_models.payments_v1')
  await resetCheckpoints(pool)
  const alone = applierOf(pool)
  await alone.start()
  await alone.apply(log.batch())
  t.same(rows, await tableOf(pool))
})

t.test('a batch without events only moves the checkpoint', async (t) => {
  const { pool } = await readModelDatabase(t)
  const applier = applierOf(pool)
  await applier.start()
  await applier.apply({ events: [], position: positionAt(2n ** 62n, 2n ** 62n - 1n) })
  t.same((await liveCheckpoint(pool, 'payments'))?.position, positionAt(2n ** 62n, 2n ** 62n - 1n))

  const stale = applierOf(pool)
  await stale.start()
  const next = { events: [], position: positionAt(2n ** 62n) }
  await applier.apply(next)
  t.same(
    (await liveCheckpoint(pool, 'payments'))?.position,
    next.position,
    'events of one commit are ordered by prepare position',
  )
  const last = { events: [], position: positionAt(2n ** 62n + 1n, 0n) }
  await t.rejects(stale.apply(last), { name: 'CheckpointLostError' })
})

t.test('another version fills its own table with its own checkpoint', async (t) => {
  const { pool } = await readModelDatabase(t)
  t.equal(await makeTable(pool, payments, 'building'), 2)
  const log = createLogFixture()
  someHistory(log)
  const next = applierOf(pool, 2)
  await next.start()
  await next.apply(log.batch())
  t.equal((await tableOf(pool, 'payments_v2')).length, 3)
  t.same(await tableOf(pool), [])
  t.same((await liveCheckpoint(pool, 'payments'))?.position, undefined, 'the live checkpoint is unchanged')
})

t.test('the reason of a stop is stored with the checkpoint until the next batch is applied', async (t) => {
  const { pool } = await readModelDatabase(t)
  await applierOf(pool).start()
  await recordStopped(pool, 'payments@1', 'event x cannot be read')
  t.equal((await liveCheckpoint(pool, 'payments'))?.stopped_because, 'event x cannot be read')
  const applier = applierOf(pool)
  await applier.start()
  t.equal(
    (await liveCheckpoint(pool, 'payments'))?.stopped_because,
    'event x cannot be read',
    'a start keeps the reason',
  )
  await applier.apply({ events: [], position: positionAt(1n) })
  t.equal((await liveCheckpoint(pool, 'payments'))?.stopped_because, null)
})
