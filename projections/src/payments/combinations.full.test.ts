import { userOwner } from '@paylog/domain/actor'
import type { ListedPayment } from '@paylog/domain/payments/resource'
import t from 'tap'
import { newestFirst } from '../queries/listPage.ts'
import { addPaymentTo, createLogFixture, user } from '../testing/logFixture.ts'
import { readModelDatabase, reapply, recordingPool } from '../testing/projectionHarness.ts'
import { payments } from './projection.ts'
import { listPayments, type PaymentOrder, type PaymentsQuery } from './queries.ts'

const id = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
const at = (minute: number) => `2026-03-01T10:${String(minute).padStart(2, '0')}:00.000Z`
const emails = ['Contact@Example.com', 'other@example.com']
const owners = ['alice', 'bob'] as const

const unfiltered = {
  status: undefined,
  search: undefined,
  guest_email: undefined,
  created_after: undefined,
  created_before: undefined,
}
type Filters = Pick<PaymentsQuery, keyof typeof unfiltered>

/** Two values for each filter, each matching some payments and not others. */
const filters: { readonly [Name in keyof Filters]-?: readonly [Filters[Name], Filters[Name]] } = {
  status: ['pending', 'succeeded'],
  search: ['WOOL', 'linen'],
  guest_email: ['contact@EXAMPLE.com', 'other@example.com'],
  created_after: [new Date(at(1)), new Date(at(4))],
  created_before: [new Date(at(9)), new Date(at(11))],
}
const names = Object.keys(filters) as (keyof Filters)[]
const orders: readonly PaymentOrder[] = ['created_at', 'amount_cents', 'status', 'updated_at']

/** Every combination of filters and orders, each for one of the owners. */
function queries(which: 0 | 1): PaymentsQuery[] {
  const combinations = Array.from({ length: 2 ** names.length }, (_, combination) => {
    const given = names.filter((_, index) => combination & (1 << index))
    return { ...unfiltered, ...Object.fromEntries(given.map((name) => [name, filters[name][which]])) }
  })
  const shapes = orders.flatMap((orderBy) =>
    (['asc', 'desc'] as const).flatMap((orderDir) =>
      [false, true].map((withMethod) => ({ orderBy, orderDir, withMethod })),
    ),
  )
  const ownPage = { owner: userOwner(owners[which]), page: 2, limit: 3 }
  return combinations.flatMap((filtered) => shapes.map((shape) => ({ ...filtered, ...shape, ...ownPage })))
}

function passes(payment: ListedPayment, query: Filters): boolean {
  const { status, search, guest_email, created_after, created_before } = query
  return (
    (status === undefined || payment.status === status) &&
    (search === undefined || payment.description?.toLowerCase().includes(search.toLowerCase()) === true) &&
    (guest_email === undefined || payment.guest_email?.toLowerCase() === guest_email.toLowerCase()) &&
    (created_after === undefined || payment.created_at > created_after.toISOString()) &&
    (created_before === undefined || payment.created_at < created_before.toISOString())
  )
}

function inOrder({ orderBy, orderDir }: Pick<PaymentsQuery, 'orderBy' | 'orderDir'>) {
  const key = (payment: ListedPayment) => [payment[orderBy], payment.id] as const
  return (one: ListedPayment, other: ListedPayment) => {
    const [[a, first], [b, second]] = [key(one), key(other)]
    return (a === b ? (first < second ? -1 : 1) : a < b ? -1 : 1) * (orderDir === 'asc' ? 1 : -1)
  }
}

t.test('every combination of filters and orders returns the right payments from a prepared statement', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  for (let number = 0; number < 24; number += 1)
    addPaymentTo(log, {
      ...user(owners[number % 2 === 0 ? 0 : 1]),
      payment_id: id(number),
      occurred_at: at(number >> 1),
      total_cents: 100 + ((number * 7) % 5),
      guest_email: emails[(number >> 1) % 2] ?? null,
      description: number % 3 === 0 ? 'Linen trousers' : 'Wool socks',
    })
  await reapply(pool, payments, log)
  await pool.query(`update read_models.payments_v1 set status = 'succeeded' where total_cents % 3 = 0`)

  const { db, queries: executed } = recordingPool(pool)
  let found = 0
  for (const which of [0, 1] as const) {
    const everything = { ...unfiltered, ...newestFirst, withMethod: false, page: 1, limit: 50 }
    const own = await listPayments(pool, { ...everything, owner: userOwner(owners[which]) })
    for (const query of queries(which)) {
      const expected = own.items.filter((payment) => passes(payment, query)).toSorted(inOrder(query))
      const { items, total } = await listPayments(db, query)
      const idsOf = (listed: readonly ListedPayment[]) => listed.map((payment) => payment.id).join(' ')
      if (total !== expected.length || idsOf(items) !== idsOf(expected.slice(3, 6))) t.fail(JSON.stringify(query))
      found += items.length
    }
  }
  t.ok(found > 400, 'the queries find payments')
  t.equal(executed.length, 2 * 512)
  t.equal(new Set(executed.map(({ name }) => name)).size, 512, 'each combination has one statement')
})
