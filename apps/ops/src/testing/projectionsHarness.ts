// Runs the projections commands on a log, read models and a real projector.
import { randomUUID } from 'node:crypto'
import type { Fold } from '@paylog/domain/events'
import { recordDispute } from '@paylog/domain/payments/disputes'
import { recordRefund } from '@paylog/domain/payments/refunds'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { EventStore } from '@paylog/event-store/eventStore'
import { liveCheckpoints } from '@paylog/projections/apply/checkpoints'
import { projections } from '@paylog/projections/registry'
import { listTables, liveTable, tableName } from '@paylog/projections/tables/tables'
import {
  addActionTo,
  addAddressTo,
  addMethodTo,
  addPaymentTo,
  addProductTo,
  changeProductIn,
  createLogFixture,
  setDefaultIn,
  user,
} from '@paylog/projections/testing/logFixture'
import type { LoggedEvent } from '@paylog/projections/testing/logKeys'
import { streamOf } from '@paylog/projections/testing/traffic'
import { startProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { opsHarness } from './opsHarness.ts'
import type { RunningCommand } from './runOps.ts'

/** Decisions do not depend on state here. */
const fold: Fold<null, RecordedDomainEvent> = { initialState: null, evolve: (state) => state }
const projector = new URL('../../../projector/src/main.ts', import.meta.url)
const metadata = { correlationId: 'c', causationId: 'c', actor: 'worker' }

const at = '2026-03-02T10:00:00.000Z'
const ids = { provider_event_id: null, provider_intent_id: null, provider_payment_id: null }
const report = { occurred_at: at, provider_time: at, ...ids }
const money = { amount_cents: 100, currency: null }
const refund = { refund_id: null, ...money, status: 'succeeded' } as const
const about = { provider_status: 'needs_response', reason: null, evidence_due_by: null }
const dispute = { status: 'open', ...money, ...about } as const

/** The column that `tamper` changes in each projection. */
export const changedColumns = {
  payments: 'client_secret',
  refunds: 'currency',
  disputes: 'provider_status',
  payment_methods: 'last_four',
  addresses: 'city',
  defaults: 'chosen_id',
  products: 'name',
  audit_trail: 'actor',
} as const

export type ProjectionName = keyof typeof changedColumns

export async function projectionsHarness(t: Test) {
  const harness = await opsHarness(t)
  const { store, pool, env } = harness
  const record = recordOn(store)

  return {
    ...harness,
    record,
    live: (name: ProjectionName) => liveName(pool, name),
    startProjector: (more: Readonly<Record<string, string>> = {}) =>
      startProcess(t, { script: projector, env: { ...env, LOG_LEVEL: 'info', ...more } }),
    run: (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      harness.run(['projections', ...args], more),
    start: (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      harness.start(['projections', ...args], more),

    /** Records `count` resources for each projection. */
    async recordAll(count: number): Promise<void> {
      const log = createLogFixture()
      for (let made = 0; made < count; made++) {
        addPaymentTo(log, user('u1'))
        addMethodTo(log)
        setDefaultIn(log, { list: 'billing_addresses', chosen_id: addAddressTo(log) })
        addActionTo(log)
        const product = addProductTo(log)
        const changes = { description: `number ${made}` }
        changeProductIn(log, product, { occurred_at: '2026-03-02T10:00:00.000Z', changes })
      }
      await record(log.events)
    },

    /** Records `count` payments, each with a refund and a dispute. */
    async recordRefundsAndDisputes(count: number): Promise<void> {
      const log = createLogFixture()
      for (let made = 0; made < count; made++) {
        const id = addPaymentTo(log, user('u1'))
        log.decide(id, (state) => recordRefund({ ...report, ...refund, provider_refund_id: `re_${made}` }, state))
        log.decide(id, (state) => recordDispute({ ...report, ...dispute, provider_dispute_id: `dp_${made}` }, state))
      }
      await record(log.events)
    },

    /** Waits until the live tables have read the log up to its current end. */
    async caughtUp(): Promise<void> {
      for (const { name, streamPrefixes } of projections)
        await waitFor(
          async () => {
            const checkpoint = (await liveCheckpoints(pool)).get(name)
            return (await store.lag(checkpoint?.position, streamPrefixes)).events === 0
          },
          { what: `${name} to be caught up` },
        )
    },

    /** Removes, adds and changes one row each, without events. @returns their ids */
    tamper: (name: ProjectionName) => tamper(pool, name),

    /** Holds database locks until released. */
    hold: (...statements: readonly string[]) => holdLocks(t, pool, statements),

    /** The tables of a projection with their states, such as `payments_v1 live`. */
    async tables(name: ProjectionName): Promise<string[]> {
      const all = await listTables(pool, name)
      return all.map(({ version, state }) => `${tableName({ name }, version)} ${state}`)
    },
  }
}

type Pool = Awaited<ReturnType<typeof opsHarness>>['pool']
type Recorder = (events: readonly LoggedEvent[]) => Promise<void>

function recordOn(store: EventStore): Recorder {
  return async (events) => {
    for (const [stream, own] of Map.groupBy(events, streamOf))
      await store.handle({
        stream,
        fold,
        decide: () => own.map(({ id: _, revision: __, position: ___, ...event }) => event),
        metadata,
      })
  }
}

async function holdLocks(t: Test, pool: Pool, statements: readonly string[]): Promise<() => Promise<void>> {
  const client = await pool.connect()
  let isHeld = true
  const release = async () => {
    if (!isHeld) return
    isHeld = false
    await client.query('rollback').finally(() => client.release())
  }
  t.teardown(release)
  await client.query('begin; set local idle_in_transaction_session_timeout = 0')
  for (const statement of statements) await client.query(statement)
  return release
}

async function liveName(pool: Pool, name: ProjectionName): Promise<string> {
  const live = await liveTable(pool, { name })
  return tableName({ name }, live?.version ?? Number.NaN)
}

async function tamper(pool: Pool, name: ProjectionName) {
  const table = `read_models.${await liveName(pool, name)}`
  const idOf = async (sql: string, values: readonly string[] = []) =>
    (await pool.query<{ id: string }>(sql, [...values])).rows[0]?.id ?? ''
  const missing = await idOf(`delete from ${table} where id = (select min(id::text)::uuid from ${table}) returning id`)
  const different = await idOf(
    `update ${table} set ${changedColumns[name]} = 'tampered' where id = (select max(id::text)::uuid from ${table})
     returning id`,
  )
  const extra = await idOf(
    `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object('id', $1::text))).* from ${table} as t
     where id <> $2 limit 1 returning id`,
    [randomUUID(), different],
  )
  return { missing, extra, different }
}

type Harness = Awaited<ReturnType<typeof projectionsHarness>>

/** Starts a rebuild of the addresses and blocks it before it creates the indexes. */
export async function rebuildUpToIndexes(
  harness: Harness,
): Promise<{ readonly command: RunningCommand; readonly building: string; readonly release: () => Promise<void> }> {
  const live = await harness.live('addresses')
  const releaseLive = await harness.hold(`lock table read_models.${live} in access exclusive mode`)
  const command = harness.start(['rebuild', 'addresses'])
  await harness.blocked(live)
  const building = (await harness.tables('addresses')).find((table) => table.endsWith(' building'))?.split(' ')[0] ?? ''
  const release = await harness.hold(`lock table read_models.${building} in row exclusive mode`)
  await releaseLive()
  await harness.blocked(`${building}_`)
  return { command, building, release }
}
