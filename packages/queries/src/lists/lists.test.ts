// What every list does: orders, pages, owners, and what gets into the text of its queries.
import { userOwner } from '@paylog/domain/actor'
import { DisputeResource } from '@paylog/domain/payments/disputes'
import { payments } from '@paylog/projections/payments/projection'
import { addPaymentTo, createLogFixture, user } from '@paylog/projections/testing/logFixture'
import { readModelDatabase, reapply } from '@paylog/projections/testing/projectionHarness'
import { recordingPool } from '@paylog/testing/recordingPool'
import type { Pool } from 'pg'
import t, { type Test } from 'tap'
import { anyPaymentList } from '../admin-payments/queries.ts'
import { paymentList, singlePayment } from '../payments/queries.ts'
import type { Item } from '../readModels.ts'
import { everybodysLists, ownLists } from '../testing/lists.ts'
import { byCreation, defineList, type List } from './defineList.ts'
import { ExactText, filter } from './filters.ts'
import { type ListQuery, readAfter, readItem, readPage } from './lists.ts'

const owner = userOwner('alice')

/** Payments of Alice with these amounts, created at these minutes. Their names are letters. */
async function withPayments(t: Test, facts: readonly { readonly cents: number; readonly minute: number }[]) {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  for (const [index, { cents, minute }] of facts.entries())
    addPaymentTo(log, {
      ...user('alice'),
      payment_id: `00000000-0000-7000-8000-00000000000${index}`,
      occurred_at: `2026-03-01T10:0${minute}:00.000Z`,
      total_cents: cents,
    })
  await reapply(pool, payments, log)
  return pool
}

const namesOf = (items: readonly { readonly id: string }[]) =>
  items.map(({ id }) => 'abcdefghij'[Number(id.slice(-1))]).join('')

async function page(pool: Pool, query: Partial<ListQuery> & { readonly offset?: number }) {
  const { items, total } = await readPage(pool, paymentList, { owner, limit: 50, offset: 0, ...query })
  return `${namesOf(items)} of ${total}`
}

t.test('lists are ordered by every column in both directions, then by id [4.2-order]', async (t) => {
  const pool = await withPayments(t, [
    { cents: 500, minute: 1 },
    { cents: 500, minute: 1 },
    { cents: 70, minute: 2 },
    { cents: 999_999_999_999, minute: 0 },
  ])
  await pool.query(`update read_models.payments_v1 set status = 'failed' where total_cents = 70`)
  for (const [orderBy, ascending] of Object.entries({
    created_at: 'dabc',
    amount_cents: 'cabd',
    status: 'cabd',
    updated_at: 'dabc',
  })) {
    t.equal(await page(pool, { orderBy, orderDir: 'asc' }), `${ascending} of 4`, orderBy)
    t.equal(await page(pool, { orderBy, orderDir: 'desc' }), `${[...ascending].reverse().join('')} of 4`, orderBy)
  }
})

t.test('numbered pages cover a list with equal values exactly once, each with the total', async (t) => {
  const pool = await withPayments(t, Array(7).fill({ cents: 1, minute: 0 }))
  for (const [offset, found] of Object.entries({ 0: 'gfe', 3: 'dcb', 6: 'a', 7: '', 107374182300: '' }))
    t.equal(await page(pool, { limit: 3, offset: Number(offset) }), `${found} of 7`)
})

t.test('pages by cursor cover a list with equal values exactly once, filtered or not', async (t) => {
  const pool = await withPayments(
    t,
    Array.from({ length: 9 }, (_, index) => ({ cents: 100 + (index % 3), minute: index % 4 })),
  )
  for (const filter of [{}, { currency: 'EUR' }])
    for (const orderBy of ['created_at', 'updated_at', 'amount_cents'])
      for (const orderDir of ['asc', 'desc'] as const)
        for (const isSorted of [false, true]) {
          const query = { ...filter, orderBy, orderDir }
          const all = await readAfter(pool, anyPaymentList, { ...query, limit: 9 })
          t.equal(all.next_cursor, null, 'the last page is full')
          let found = ''
          let cursor: string | null | undefined
          while (cursor !== null) {
            const page = await readAfter(pool, anyPaymentList, { ...query, limit: 2, cursor }, { isSorted })
            found += namesOf(page.items)
            cursor = page.next_cursor
          }
          t.equal(found, namesOf(all.items), `${orderBy} ${orderDir}`)
        }
})

t.test('a list or resource with owners is not read without one', async (t) => {
  const { pool } = await readModelDatabase(t)
  const id = '00000000-0000-7000-8000-000000000000'
  const message = / requires an owner$/
  for (const list of ownLists) {
    await t.rejects(readPage(pool, list, { limit: 1, offset: 0 }), { message })
    await t.rejects(readAfter(pool, list, { limit: 1 }), { message })
    await t.rejects(readItem(pool, list, { id }), { message })
  }
})

/** Values for each type of filter, two of each. */
function hostileValues({ schema }: List['filters'][string]): readonly (string | number)[] {
  if ('format' in schema && schema.format === 'uuid')
    return ['018f0000-0000-7000-8000-000000000001', '018F0000-0000-7000-8000-000000000002']
  if ('format' in schema) return ['2026-03-01T10:00:00Z', '2026-03-02T10:00:00+01:00']
  if ('enum' in schema && Array.isArray(schema.enum)) return schema.enum
  if ('minimum' in schema) return [1, 2]
  return ["'; drop table x; --", '\\"$1 $$ %s :x @@ {a}']
}

t.test('values of filters are never in the text of a query, and all values have one statement', async (t) => {
  const { pool } = await readModelDatabase(t)
  for (const list of [...ownLists, ...everybodysLists])
    for (const [name, filter] of Object.entries(list.filters)) {
      const { db, queries } = recordingPool(pool)
      const values = hostileValues(filter)
      for (const value of values) await readPage(db, list, { owner, limit: 7, offset: 0, [name]: value })
      const texts = new Set(queries.map(({ text }) => text))
      // Two texts for a flag, whose value is not a parameter.
      t.ok(texts.size === 1 || (texts.size === 2 && values.includes('true')), `${list.view} ${name}`)
      for (const text of texts) {
        const withoutNames = text.replaceAll(/"[^"]*"/g, '')
        t.notOk(values.some((value) => String(value).length > 5 && withoutNames.includes(String(value))))
      }
    }
})

t.test('lists of owners are prepared statements, and those of everybody are planned for their values', async (t) => {
  const { pool } = await readModelDatabase(t)
  const { db, queries } = recordingPool(pool)
  for (const list of ownLists) await readPage(db, list, { owner, limit: 1, offset: 0 })
  const names = new Set(queries.map(({ name }) => name))
  t.equal(names.size, ownLists.length, 'each text has its name')
  t.notOk(names.has(undefined))
  for (const list of everybodysLists) await readAfter(db, list, { limit: 1 })
  t.same(new Set(queries.slice(ownLists.length).map(({ name }) => name)), new Set([undefined]))
})

t.test('a field that the view of another program version lacks is service_unavailable', async (t) => {
  const { pool } = await readModelDatabase(t)
  await pool.query('alter view read_models.payments rename column metadata to later')
  const query = { id: '00000000-0000-7000-8000-000000000000', owner }
  await t.rejects(readItem(pool, singlePayment, query), { code: 'service_unavailable', cause: { code: '42703' } })
})

t.test('a list of a column that its view lacks, or with a value of another type, does not compile', (t) => {
  // @ts-expect-error: products have no status
  filter<typeof ExactText, 'products'>(ExactText, 'status', 'status')
  // @ts-expect-error: it is a boolean
  filter<typeof ExactText, 'products'>(ExactText, 'is_active', 'is_active')
  const described = { item: DisputeResource, computed: () => ({}), filters: {}, orders: byCreation }
  defineList('disputes', described)
  // @ts-expect-error: products have no payment_id
  defineList('products', described)
  // @ts-expect-error: disputes have no name
  defineList('disputes', { ...described, orders: { name: { column: 'name', holds: 'text' } } })
  // @ts-expect-error: a filter of payments
  defineList('disputes', { ...described, filters: { amount: paymentFilter } })
  t.end()
})

const paymentFilter = filter(ExactText, 'owner', (item: Item<'payments'>, owner) => item('owner', '=', owner))
