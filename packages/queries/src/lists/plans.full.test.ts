// Query plans of prepared queries: indexes only, for all parameters.
import { randomUUID } from 'node:crypto'
import { guestOwner, userOwner } from '@paylog/domain/actor'
import { readModelDatabase } from '@paylog/projections/testing/projectionHarness'
import { encodeCursor } from '@paylog/runtime/http/cursor'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import { recordingPool } from '@paylog/testing/recordingPool'
import type { Pool, PoolClient } from 'pg'
import t from 'tap'
import { addressList } from '../addresses/queries.ts'
import { anyPaymentList, listFor } from '../admin-payments/queries.ts'
import { getStatistics } from '../admin-payments/statistics.ts'
import { anyRefundList } from '../admin-refunds/queries.ts'
import { auditTrailList } from '../audit-trail/queries.ts'
import { disputeList } from '../disputes/queries.ts'
import { paymentMethodList } from '../payment-methods/queries.ts'
import { paymentList, paymentListWithMethods, singlePayment } from '../payments/queries.ts'
import { productList } from '../products/queries.ts'
import { listRefunds } from '../refunds/queries.ts'
import { getReport } from '../reports/report.ts'
import type { List } from './defineList.ts'
import { type ListQuery, listIdentity, readAfter, readCounted, readItem, readPage } from './lists.ts'

const owner = userOwner('u1')
const all = { owner, offset: 0, limit: 50 }
const one = { id: randomUUID(), owner }

/** A page of the list of everybody's rows, after a row with this value. */
function after(list: List, query: Omit<ListQuery, 'limit'> = {}, value: string | number = '2026-01-01T00:00:00.000Z') {
  const cursor = encodeCursor(listIdentity(list, query), { value, id: one.id }) ?? ''
  return (db: Queryable) => readAfter(db, list, { ...query, limit: 20, cursor })
}
const first =
  (list: List, query: Partial<ListQuery> = {}) =>
  (db: Queryable) =>
    readAfter(db, list, { limit: 20, ...query })
const page =
  (list: List, query: Partial<ListQuery> = {}) =>
  (db: Queryable) =>
    readPage(db, list, { ...all, ...query })
const anyPayments = (query: Partial<ListQuery>) => async (db: Queryable) =>
  readCounted(db, await listFor(db, query), { limit: 20, ...query })

const searched = [
  /BitmapOr/,
  /Bitmap Index Scan on payments_v1_by_terms/,
  /Bitmap Index Scan on payments_v1_by_intent/,
  /Bitmap Index Scan on payments_v1_by_charge/,
  /Bitmap Index Scan on payments_v1_pkey.*\n.*Index Cond: \(\(id >= .* AND \(id <= /,
  /Bitmap Index Scan on payments_v1_by_amount/,
  /Bitmap Index Scan on refunds_v1_pkey/,
  /Bitmap Index Scan on disputes_v1_pkey/,
  /Bitmap Index Scan on payments_v1_with_attention/,
  /refunds_v1_by_provider_id/,
  /disputes_v1_by_provider_id/,
]

const queries: [name: string, run: (db: Queryable) => Promise<unknown>, indexes: RegExp[]][] = [
  ['payments', page(paymentList), [/payments_v1_by_owner/]],
  ['payments with their methods', page(paymentListWithMethods), [/payments_v1_by_owner/, /payment_methods_v1_pkey/]],
  ['payments of a guest', page(paymentList, { owner: guestOwner('guest@example.com') }), [/payments_v1_by_guest/]],
  ['refunds of a payment', (db) => listRefunds(db, one), [/refunds_v1_by_payment/]],
  ['all refunds', first(anyRefundList), [/Index Only Scan Backward using refunds_v1_by_creation/]],
  ['all refunds by update', first(anyRefundList, { orderBy: 'updated_at' }), [/refunds_v1_by_update/]],
  [
    'refunds with a status after a position',
    after(anyRefundList, { status: 'failed' }),
    [/Index Only Scan Backward using refunds_v1_by_status/],
  ],
  ['all refunds of a payment', first(anyRefundList, { payment_id: one.id }), [/refunds_v1_by_payment/]],
  ['disputes', first(disputeList), [/Index Only Scan Backward using disputes_v1_by_creation/]],
  ['disputes by update', first(disputeList, { orderBy: 'updated_at' }), [/disputes_v1_by_update/]],
  ['disputes of a payment', first(disputeList, { payment_id: one.id }), [/disputes_v1_by_payment/]],
  [
    'a report',
    (db) => getReport(db, { from: new Date(0), to: new Date(1) }),
    [
      /Index Only Scan using payments_v1_by_success/,
      /payments_v1_with_others/,
      /refunds_v1_by_success/,
      /refunds_v1_by_return/,
    ],
  ],
  [
    'disputes with a status after a position',
    after(disputeList, { status: 'open' }),
    [/Index Only Scan Backward using disputes_v1_by_status/],
  ],
  ['the audit trail', first(auditTrailList), [/audit_trail_v1_by_creation/]],
  [
    'the audit trail of a target after a position',
    after(auditTrailList, { target: 'payment' }),
    [/audit_trail_v1_by_target/],
  ],
  ['the audit trail of an actor', first(auditTrailList, { actor: 'operator' }), [/audit_trail_v1_by_actor/]],
  ['the audit trail of an action', first(auditTrailList, { action: 'export_log' }), [/audit_trail_v1_by_action/]],
  [
    'statistics',
    (db) => getStatistics(db, { from: new Date(0), to: new Date(1), interval: 'day' }),
    [/payments_v1_by_creation/, /refunds_v1_by_status/, /disputes_v1_by_creation/],
  ],
  ['all payments', anyPayments({}), [/payments_v1_by_creation/]],
  ['all payments by update', anyPayments({ orderBy: 'updated_at' }), [/payments_v1_by_update/]],
  ['all payments by amount', anyPayments({ orderBy: 'amount_cents' }), [/payments_v1_by_amount/]],
  [
    'all payments after a position',
    after(anyPaymentList),
    [/payments_v1_by_creation.*\n.*Index Cond: \(?ROW\(.*created_at, .*id\) </],
  ],
  ['refunded payments', anyPayments({ refunded: 'true' }), [/payments_v1_refunded/]],
  ['disputed payments', anyPayments({ disputed: 'true' }), [/payments_v1_disputed/]],
  ['payments with attention', anyPayments({ attention: 'true' }), [/payments_v1_with_attention/]],
  ['one payment', (db) => readItem(db, singlePayment, one), [/payment_methods_v1_pkey/]],
  ['payment methods', page(paymentMethodList), [/payment_methods_v1_by_owner/, /defaults_v1_by_item/]],
  ['one payment method', (db) => readItem(db, paymentMethodList, one), [/defaults_v1_by_item/]],
  ['addresses', page(addressList), [/addresses_v1_by_owner/, /defaults_v1_by_item/]],
  [
    'addresses of a type',
    page(addressList, { address_type: 'billing' }),
    [/addresses_v1_by_owner/, /defaults_v1_by_item/],
  ],
  ['one address', (db) => readItem(db, addressList, one), [/defaults_v1_by_item/]],
  [
    'products after a position',
    after(productList),
    [/Index Only Scan Backward using products_v1_by_creation.*\n.*Index Cond: \(?ROW\(created_at, id\) </],
  ],
  [
    'products by name after a position',
    after(productList, { orderBy: 'name', orderDir: 'asc' }, 'x'),
    [/Index Only Scan using products_v1_by_name/],
  ],
  ['one product', (db) => readItem(db, productList, one), [/products_v1_pkey/]],
]

/** The generic plans, with full table scans only as a last resort. */
async function planOf(pool: Pool, client: PoolClient, run: (db: Queryable) => Promise<unknown>): Promise<string> {
  const { db, queries } = recordingPool(pool)
  await run(db)
  const plans: string[] = []
  for (const { text, values = [] } of queries) {
    await client.query(`prepare tested as ${text}`)
    const given = values.length > 0 ? `(${values.map(() => 'null').join(', ')})` : ''
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute tested${given}`)
    await client.query('deallocate tested')
    plans.push(...rows.map((row) => row['QUERY PLAN']))
  }
  return plans.join('\n')
}

t.test('no prepared query reads a whole table', async (t) => {
  const { pool } = await readModelDatabase(t)
  const client = await pool.connect()
  t.teardown(() => client.release(true))
  await client.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_bitmapscan = off')
  for (const [name, run, indexes] of queries) {
    const plan = await planOf(pool, client, run)
    t.notMatch(plan, /Seq Scan/, name)
    for (const index of indexes) t.match(plan, index, name)
  }
})

t.test('a search of the administrators combines indexes', async (t) => {
  const { pool } = await readModelDatabase(t)
  const client = await pool.connect()
  t.teardown(() => client.release(true))
  await client.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set enable_indexscan = off')
  const plan = await planOf(pool, client, anyPayments({ search: one.id }))
  for (const index of searched) t.match(plan, index)
})
