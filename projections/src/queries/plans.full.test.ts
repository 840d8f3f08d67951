// Query plans of prepared queries: indexes only, for all parameters.
import { randomUUID } from 'node:crypto'
import { guestOwner, userOwner } from '@paylog/domain/actor'
import type { Pool, PoolClient } from 'pg'
import t from 'tap'
import { getAddress, listAddresses } from '../addresses/queries.ts'
import { listAuditTrail } from '../audit-trail/queries.ts'
import { listDisputes } from '../disputes/queries.ts'
import { getPaymentMethod, listPaymentMethods } from '../payment-methods/queries.ts'
import { type AnyPaymentsQuery, listAnyPayments } from '../payments/adminQueries.ts'
import { getPayment, listPayments } from '../payments/queries.ts'
import { getStatistics } from '../payments/statistics.ts'
import { getProduct, listProducts, listProductsAfter, type ProductsQuery } from '../products/queries.ts'
import { listRefunds } from '../refunds/queries.ts'
import { allProductsQuery } from '../testing/catalogFixture.ts'
import { readModelDatabase, recordingPool } from '../testing/projectionHarness.ts'
import { newestFirst } from './listPage.ts'
import type { Queryable } from './namedQuery.ts'

const owner = userOwner('u1')
const all = { owner, page: 1, limit: 50, ...newestFirst }
const allProducts: ProductsQuery = { ...allProductsQuery, limit: 50 }
const { offset: _, ...filters } = allProducts
const counted = /Index Only Scan using products_v1_by_filters/
const one = { id: randomUUID(), owner }
const position = { value: '2026-01-01T00:00:00.000Z', id: one.id }
const anyPayment: AnyPaymentsQuery = {
  ...{ orderBy: 'created_at', orderDir: 'desc', limit: 20 },
  ...{ refunded: 'any', disputed: 'any', attention: 'any' },
}
const searched = [
  /BitmapOr/,
  /Bitmap Index Scan on payments_v1_by_terms/,
  /Bitmap Index Scan on payments_v1_by_intent/,
  /Bitmap Index Scan on payments_v1_by_charge/,
  /Bitmap Index Scan on payments_v1_with_attention/,
  /refunds_v1_by_provider_id/,
  /disputes_v1_by_provider_id/,
]

const queries: [name: string, run: (db: Queryable) => Promise<unknown>, indexes: RegExp[]][] = [
  ['payments', (db) => listPayments(db, { ...all, withMethod: false }), [/payments_v1_by_owner/]],
  [
    'payments with their methods',
    (db) => listPayments(db, { ...all, withMethod: true }),
    [/payments_v1_by_owner/, /payment_methods_v1_pkey/],
  ],
  [
    'payments of a guest',
    (db) => listPayments(db, { ...all, owner: guestOwner('guest@example.com'), withMethod: false }),
    [/payments_v1_by_guest/],
  ],
  ['refunds of a payment', (db) => listRefunds(db, one), [/refunds_v1_by_payment/]],
  ['disputes', (db) => listDisputes(db, { limit: 20 }), [/Index Scan Backward using disputes_v1_by_creation/]],
  [
    'disputes with a status after a position',
    (db) => listDisputes(db, { limit: 20, status: 'open', after: position }),
    [/Index Scan Backward using disputes_v1_by_status/],
  ],
  ['the audit trail', (db) => listAuditTrail(db, { limit: 20 }), [/audit_trail_v1_by_creation/]],
  [
    'the audit trail of a target after a position',
    (db) => listAuditTrail(db, { limit: 20, target: 'payment', after: position }),
    [/audit_trail_v1_by_target/],
  ],
  [
    'the audit trail of an actor',
    (db) => listAuditTrail(db, { limit: 20, actor: 'operator' }),
    [/audit_trail_v1_by_actor/],
  ],
  [
    'the audit trail of an action',
    (db) => listAuditTrail(db, { limit: 20, action: 'export_log' }),
    [/audit_trail_v1_by_action/],
  ],
  [
    'statistics',
    (db) => getStatistics(db, { from: new Date(0), to: new Date(1), interval: 'day' }),
    [/payments_v1_by_creation/, /refunds_v1_by_creation/, /disputes_v1_by_creation/],
  ],
  ['all payments', (db) => listAnyPayments(db, anyPayment), [/payments_v1_by_creation/]],
  [
    'all payments by update',
    (db) => listAnyPayments(db, { ...anyPayment, orderBy: 'updated_at' }),
    [/payments_v1_by_update/],
  ],
  [
    'all payments by amount',
    (db) => listAnyPayments(db, { ...anyPayment, orderBy: 'amount_cents' }),
    [/payments_v1_by_amount/],
  ],
  [
    'all payments after a position',
    (db) => listAnyPayments(db, { ...anyPayment, after: position }),
    [/payments_v1_by_creation.*\n.*Index Cond: \(?ROW\(.*created_at, .*id\) </],
  ],
  ['refunded payments', (db) => listAnyPayments(db, { ...anyPayment, refunded: 'true' }), [/payments_v1_refunded/]],
  ['disputed payments', (db) => listAnyPayments(db, { ...anyPayment, disputed: 'true' }), [/payments_v1_disputed/]],
  [
    'payments with attention',
    (db) => listAnyPayments(db, { ...anyPayment, attention: 'true' }),
    [/payments_v1_with_attention/],
  ],
  ['one payment', (db) => getPayment(db, one), [/payment_methods_v1_pkey/]],
  ['payment methods', (db) => listPaymentMethods(db, all), [/payment_methods_v1_by_owner/, /defaults_v1_by_item/]],
  ['one payment method', (db) => getPaymentMethod(db, one), [/defaults_v1_by_item/]],
  ['addresses', (db) => listAddresses(db, all), [/addresses_v1_by_owner/, /defaults_v1_by_item/]],
  [
    'addresses of a type',
    (db) => listAddresses(db, { ...all, address_type: 'billing' }),
    [/addresses_v1_by_owner/, /defaults_v1_by_item/],
  ],
  ['one address', (db) => getAddress(db, one), [/defaults_v1_by_item/]],
  [
    'products',
    (db) => listProducts(db, allProducts),
    [counted, /Index Only Scan Backward using products_v1_by_creation/, /Index Scan using products_v1_pkey/],
  ],
  [
    'products by name',
    (db) => listProducts(db, { ...allProducts, orderBy: 'name', orderDir: 'asc' }),
    [counted, /Index Only Scan using products_v1_by_name/],
  ],
  [
    'products by subtotal',
    (db) => listProducts(db, { ...allProducts, orderBy: 'subtotal_cents' }),
    [counted, /Index Only Scan Backward using products_v1_by_subtotal/],
  ],
  [
    'products by their last change',
    (db) => listProducts(db, { ...allProducts, orderBy: 'updated_at' }),
    [counted, /Index Only Scan Backward using products_v1_by_update/],
  ],
  [
    'products after a position',
    (db) => listProductsAfter(db, { ...filters, after: { value: '2026-01-01T00:00:00.000Z', id: one.id } }),
    [/Index Only Scan Backward using products_v1_by_creation.*\n.*Index Cond: \(?ROW\(created_at, id\) </],
  ],
  [
    'products by name after a position',
    (db) => listProductsAfter(db, { ...filters, orderBy: 'name', orderDir: 'asc', after: { value: 'x', id: one.id } }),
    [/Index Only Scan using products_v1_by_name/],
  ],
  ['one product', (db) => getProduct(db, { id: one.id }), [/products_v1_pkey/]],
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
  const plan = await planOf(pool, client, (db) => listAnyPayments(db, { ...anyPayment, search: one.id }))
  for (const index of searched) t.match(plan, index)
})
