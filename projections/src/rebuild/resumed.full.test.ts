// Rebuilds that are killed in each of their phases and continue where they were.

import type { EventStore } from '@paylog/event-store/eventStore'
import type { TestProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import pg from 'pg'
import t, { type Test } from 'tap'
import { readCheckpoint } from '../apply/checkpoints.ts'
import { products } from '../products/projection.ts'
import { laterVersionOf } from '../testing/laterProjection.ts'
import { projectorHarness } from '../testing/projectorHarness.ts'
import { tableStates, verifyOne, waitForAgreement, wrongCheckpoints } from '../testing/readModelChecks.ts'
import { recordChangedProduct } from '../testing/traffic.ts'

const perProduct = 1_000
/** Two windows of a rebuild. */
const productCount = 6

async function recordProducts(store: EventStore): Promise<void> {
  for (let count = 0; count < productCount; count += 1) await recordChangedProduct(store, perProduct)
}

type Harness = Awaited<ReturnType<typeof projectorHarness>>

/** Holds locks on a separate connection, until released. */
async function hold(t: Test, { databaseUrl }: Harness, statement: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(`begin; set local idle_in_transaction_session_timeout = 0; ${statement}`)
  t.teardown(() => client.end())
  return () => client.end()
}

/** Waits until a statement of the process waits for a lock, kills the process, and ends its sessions in the database. */
async function killWhenBlocked({ pool }: Harness, rebuilding: TestProcess, words: string): Promise<void> {
  const blocked = () =>
    pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
       and application_name in ('replay', 'later') and query ilike $1`,
      [`%${words}%`],
    )
  await waitFor(async () => (await blocked()).rowCount === 1, { what: `a statement with "${words}" to wait` })
  await rebuilding.kill('SIGKILL')
  await pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name in ('replay', 'later')`,
  )
}

const reached = async ({ pool }: Harness) => (await readCheckpoint(pool, 'products@2')).position?.commit ?? 0n
const isUnfinished = async (t: Test, { pool }: Harness) =>
  t.same(await tableStates(pool, products), ['live', 'building'])

/** Kills a rebuild of products while it fills the table. @returns the position that it had reached */
async function killWhileFilling(t: Test, harness: Harness, start: () => Promise<TestProcess>): Promise<bigint> {
  const { pool } = harness
  await pool.query(`create function read_models.wait_for_test() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(1); return new; end $$;
    create trigger wait_for_test before update on read_models.checkpoints for each row
    when (old.name = 'products@2' and old.commit_position is not null) execute function read_models.wait_for_test()`)
  const secondWindow = await hold(t, harness, 'select pg_advisory_xact_lock(1)')
  await killWhenBlocked(harness, await start(), 'update read_models.checkpoints')
  const filled = await reached(harness)
  t.ok(filled > 0n, 'killed while filling, after a window')
  await isUnfinished(t, harness)
  await pool.query('drop function read_models.wait_for_test cascade')
  await secondWindow()
  return filled
}

/** Kills a rebuild of products in each phase before the switch. @returns the position that it had reached */
async function killInEachPhase(t: Test, harness: Harness, start: () => Promise<TestProcess>): Promise<bigint> {
  const filled = await killWhileFilling(t, harness, start)
  const indexes = await hold(t, harness, 'lock table read_models.products_v2 in row exclusive mode')
  const second = await start()
  await killWhenBlocked(harness, second, 'create index')
  t.match(second.output(), new RegExp(`"position":"${filled}".*continuing an interrupted rebuild`))
  const end = await reached(harness)
  t.ok(end > filled, 'killed while indexing')
  await isUnfinished(t, harness)
  await indexes()

  const view = await hold(t, harness, 'lock table read_models.products in access share mode')
  const third = await start()
  await killWhenBlocked(harness, third, 'view products')
  t.match(third.output(), new RegExp(`"position":"${end}".*continuing an interrupted rebuild`))
  await isUnfinished(t, harness)
  await view()
  return await reached(harness)
}

t.test('a rebuild that is killed while filling, indexing or switching continues where it was', async (t) => {
  const harness = await projectorHarness(t)
  const { pool, store } = harness
  await recordProducts(store)
  await harness.startProjector()
  await waitForAgreement(harness, [products])
  const start = () => harness.startReplay('rebuild', 'products')
  const end = await killInEachPhase(t, harness, start)
  const last = await start()
  await waitFor(() => last.output().includes('done'), { what: 'the rebuild' })
  t.match(last.output(), new RegExp(`"position":"${end}".*continuing an interrupted rebuild`))
  t.match(last.output(), 'done with 0 events')
  t.same(await tableStates(pool, products), ['retired', 'live'])
  t.match(await verifyOne(harness, products), { differing: 0, live: { version: 2, rows: productCount } })

  const next = await start()
  await waitFor(() => next.output().includes(`done with ${productCount * perProduct} events`), {
    what: 'a new rebuild',
  })
  t.notMatch(next.output(), 'continuing')
  t.same(await wrongCheckpoints(pool), [])
})

t.test('a projector that is killed while it rebuilds for a raised schema version continues where it was', async (t) => {
  const harness = await projectorHarness(t)
  const { pool, store } = harness
  const laterProducts = laterVersionOf(products)
  await recordProducts(store)
  const start = () => harness.startLater('products')
  const end = await killWhileFilling(t, harness, start)
  const last = await start()
  await waitFor(() => last.output().includes('rebuilt the live table'), { what: 'the rebuild' })
  t.match(last.output(), new RegExp(`"events":[1-9]\\d*,"resumedAfter":"${end}".*rebuilt the live table`))
  t.same(await tableStates(pool, products), ['retired', 'live'])
  await last.kill('SIGKILL')

  const next = await start()
  await waitFor(() => next.output().includes('projection runs'), { what: 'the projection to run' })
  t.notMatch(next.output(), /rebuil/, 'killed after the switch, it does not rebuild again')
  t.match(await verifyOne(harness, laterProducts), { differing: 0, live: { version: 2, rows: productCount } })
  t.same(await wrongCheckpoints(pool), [])
})
