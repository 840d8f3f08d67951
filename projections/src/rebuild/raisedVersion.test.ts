// One projector whose schema version is higher than that of the live table.

import { isDeepStrictEqual } from 'node:util'
import { userOwner } from '@paylog/domain/actor'
import { readItem } from '@paylog/queries/lists/lists'
import { singlePayment } from '@paylog/queries/payments/queries'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { waitFor } from '@paylog/testing/waitFor'
import pg from 'pg'
import t, { type Test } from 'tap'
import { computed, nullable, text } from '../columns.ts'
import { payments } from '../payments/projection.ts'
import type { Projection } from '../projection.ts'
import { projections } from '../registry.ts'
import { runProjection, startingState } from '../runProjection.ts'
import { makeTable, tableName } from '../tables/tables.ts'
import { laterVersionOf } from '../testing/laterProjection.ts'
import { projectorHarness } from '../testing/projectorHarness.ts'
import { tableStates, verifyOne, wrongCheckpoints } from '../testing/readModelChecks.ts'
import { startTraffic } from '../testing/traffic.ts'

type Harness = Awaited<ReturnType<typeof projectorHarness>>

/** Runs a version of payments in this process, and other projections beside it. */
function run(
  t: Test,
  { databaseUrl, store }: Harness,
  projection: Projection,
  { others = [], sessions = 8 }: { readonly others?: readonly Projection[]; readonly sessions?: number } = {},
) {
  const lines: string[] = []
  const log = createLog({ app: 'test' }, { write: (line) => void lines.push(line) })
  const pool = createPool({ databaseUrl, applicationName: 'projector', max: sessions, log })
  const stopping = new AbortController()
  const state = startingState()
  const common = { databaseUrl, pool, store, log, signal: stopping.signal }
  const running = [projection, ...others].map((each) =>
    runProjection({ ...common, projection: each, awaited: new EventTarget(), ...(each === projection && { state }) }),
  )
  const stop = async () => {
    stopping.abort()
    await Promise.all(running)
  }
  t.teardown(async () => {
    await stop()
    await pool.end()
  })
  return { state, stop, logs: (text: string) => lines.some((line) => line.includes(text)) }
}

/** A later version of payments, run as the only projector. Its rebuild waits before it creates the indexes. */
async function startUpToIndexes(t: Test, projection: Projection) {
  const harness = await projectorHarness(t)
  const { databaseUrl, pool } = harness
  const before = await harness.pay()
  const present = run(t, harness, payments)
  await harness.projected(1)
  await present.stop()
  // Paid while no projector runs.
  const missed = await harness.pay()
  const building = tableName(projection, await makeTable(pool, projection, 'building'))
  const holder = new pg.Client({ connectionString: databaseUrl })
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('begin; set local idle_in_transaction_session_timeout = 0')
  await holder.query(`lock table read_models.${building} in row exclusive mode`)
  const later = run(t, harness, projection)
  return {
    ...harness,
    ...later,
    before,
    missed,
    async finishRebuild(): Promise<void> {
      await holder.query('commit')
      await waitFor(() => later.logs('rebuilt the live table'), { what: 'the switch' })
      t.same(await tableStates(pool, projection), ['retired', 'live'])
      t.same(await wrongCheckpoints(pool), [])
      t.match(await verifyOne(harness, projection), { differing: 0, live: { rows: 3 } })
    },
  }
}

const listed = async ({ pool }: Harness, id: string) =>
  (await readItem(pool, singlePayment, { id, owner: userOwner('u1') })) !== undefined

t.test('the lists stay up to date while the only projector rebuilds them for a raised schema version', async (t) => {
  const later = await startUpToIndexes(t, laterVersionOf(payments))
  await waitFor(() => later.state.rebuild === 'running', { what: 'the rebuild' })
  await waitFor(() => listed(later, later.missed), { what: 'the payment made while no projector ran' })
  const id = await later.pay()
  await waitFor(() => listed(later, id), { what: 'a payment made during the rebuild' })
  t.match(later.state, { role: 'running', rebuild: 'running', isConnected: true })
  t.same(await tableStates(later.pool, payments), ['live', 'building'])
  await later.finishRebuild()
  t.match(later.state, { role: 'running', rebuild: 'none' })
  const next = await later.pay()
  await waitFor(() => listed(later, next), { what: 'a payment made after the switch' })
})

t.test('all projections with a raised schema version are rebuilt in a pool of four sessions', async (t) => {
  const harness = await projectorHarness(t)
  await harness.pay()
  const [first = payments, ...others] = projections.map(laterVersionOf)
  const raised = [first, ...others].map(({ name, schemaVersion }) => ({
    projection: name,
    schema_version: schemaVersion,
  }))
  const traffic = startTraffic(t, harness.store)
  run(t, harness, first, { others, sessions: 4 })
  const live = async () => {
    const { rows } = await harness.pool.query(
      `select projection, schema_version from read_models.tables where state = 'live' order by projection`,
    )
    return rows
  }
  const byName = raised.toSorted((a, b) => (a.projection < b.projection ? -1 : 1))
  // A rebuild that failed would be tried again after 30 s.
  await waitFor(async () => isDeepStrictEqual(await live(), byName), { what: 'the switches', timeoutMs: 25_000 })
  await traffic.stop()
  t.same(await wrongCheckpoints(harness.pool), [])
})

t.test('required columns that a later program lacks or leaves empty do not stop the old table', async (t) => {
  const { provider_id: _, ...columns } = payments.columns
  const without: Projection = {
    ...payments,
    schemaVersion: payments.schemaVersion + 1,
    columns: { ...columns, currency: nullable(text) },
    computed: { ...payments.computed, provider_id: computed(text, "'unknown'") },
    changeOf(event) {
      const mapped = payments.changeOf(event)
      if (mapped === undefined || !('insert' in mapped.change)) return mapped
      const { provider_id: _, ...insert } = mapped.change.insert
      return { ...mapped, change: { insert: { ...insert, currency: null } } }
    },
  }
  const later = await startUpToIndexes(t, without)
  const id = await later.pay()
  await waitFor(() => listed(later, id), { what: 'a payment made during the rebuild' })
  const { rows } = await later.pool.query(
    `select provider_id, currency from read_models.payments where id = any($1) order by id = $2`,
    [[later.before, id], id],
  )
  t.same(rows, [
    { provider_id: 'sandbox', currency: 'EUR' },
    { provider_id: null, currency: null },
  ])
  await later.finishRebuild()
})

t.test('a column with another type leaves the old table to older projectors, and the rebuild goes on', async (t) => {
  const retyped: Projection = {
    ...payments,
    schemaVersion: payments.schemaVersion + 1,
    columns: { ...payments.columns, is_guest_payment: text },
  }
  const later = await startUpToIndexes(t, retyped)
  const report = 'payments_v1 cannot be kept up to date: other types in is_guest_payment'
  await waitFor(() => later.logs(report), { what: 'the report' })
  t.equal(later.state.role, 'frozen')
  const id = await later.pay()
  await waitFor(() => later.state.rebuild === 'running', { what: 'the rebuild' })
  t.notOk(await listed(later, id))
  const older = run(t, later, payments)
  await waitFor(() => listed(later, id), { what: 'a projector of the older version to take over' })
  await waitFor(() => later.state.role === 'standing by', { what: 'the later version to wait for it' })
  await later.finishRebuild()
  // The older projector notices the switch when it has something to write.
  const next = await later.pay()
  await waitFor(() => listed(later, next), { what: 'a payment made after the switch' })
  t.same([older.state.role, later.state.role], ['outdated', 'running'])
})
