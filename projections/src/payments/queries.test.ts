import { guestOwner, ownerOf, userOwner } from '@paylog/domain/actor'
import { recordEvidence } from '@paylog/domain/payments/evidence'
import type { Pool } from 'pg'
import t from 'tap'
import { createApplier } from '../apply/applier.ts'
import { addPaymentTo, createLogFixture, guest, type PaymentFacts, user } from '../testing/logFixture.ts'
import { readModelDatabase, resetCheckpoints } from '../testing/projectionHarness.ts'
import { payments } from './projection.ts'
import { getPayment, listPayments, type PaymentsQuery } from './queries.ts'

const alice = userOwner('alice')
const defaultQuery: PaymentsQuery = {
  owner: alice,
  orderBy: 'created_at',
  orderDir: 'desc',
  page: 1,
  limit: 50,
  withMethod: false,
}

const id = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
const at = (minute: number) => `2026-03-01T10:${String(minute).padStart(2, '0')}:00.000Z`

async function project(pool: Pool, log: ReturnType<typeof createLogFixture>): Promise<void> {
  const applier = createApplier({ pool, projection: payments, version: 1, source: log })
  await applier.start()
  await applier.apply(log.batch())
}

/** The ids that a query finds, as the numbers given by the test. */
async function numbers(pool: Pool, query: Partial<PaymentsQuery>): Promise<number[]> {
  const { items } = await listPayments(pool, { ...defaultQuery, ...query })
  return items.map((payment) => Number(payment.id.slice(-12)))
}

async function projected(t: Parameters<typeof readModelDatabase>[0], facts: readonly PaymentFacts[]) {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  facts.forEach((given, index) => {
    addPaymentTo(log, { ...user('alice'), payment_id: id(index), occurred_at: at(index), ...given })
  })
  await project(pool, log)
  return { pool, log }
}

t.test('payments: lists are ordered by every column in both directions, then by id [4.2-order]', async (t) => {
  const { pool, log } = await projected(t, [
    { total_cents: 500, occurred_at: at(1) },
    { total_cents: 500, occurred_at: at(1) },
    { total_cents: 70, occurred_at: at(2) },
    { total_cents: 999_999_999_999, occurred_at: at(0) },
  ])
  log.decide(id(2), (state) =>
    recordEvidence(
      {
        occurred_at: at(9),
        provider_time: at(9),
        status: 'failed',
        provider_event_id: 'e',
        provider_intent_id: null,
        provider_payment_id: null,
        amount_cents: null,
        currency: null,
      },
      state,
    ),
  )
  await pool.query('truncate read_models.payments_v1')
  await resetCheckpoints(pool)
  await project(pool, log)
  const orders: [PaymentsQuery['orderBy'], number[]][] = [
    ['created_at', [3, 0, 1, 2]],
    ['amount_cents', [2, 0, 1, 3]],
    ['status', [2, 0, 1, 3]],
    ['updated_at', [3, 0, 1, 2]],
  ]
  for (const [orderBy, ascending] of orders) {
    t.same(await numbers(pool, { orderBy, orderDir: 'asc' }), ascending, orderBy)
    t.same(await numbers(pool, { orderBy, orderDir: 'desc' }), ascending.toReversed(), `${orderBy} desc`)
  }
})

t.test('payments: pages cover a list exactly once, each with the total', async (t) => {
  const { pool } = await projected(
    t,
    Array.from({ length: 7 }, () => ({ occurred_at: at(0) })),
  )
  const seen: string[] = []
  for (const page of [1, 2, 3]) {
    const { items, total } = await listPayments(pool, { ...defaultQuery, page, limit: 3 })
    t.equal(total, 7)
    seen.push(...items.map((payment) => payment.id))
  }
  t.equal(seen.length, 7)
  t.equal(new Set(seen).size, 7)
  t.same(await listPayments(pool, { ...defaultQuery, page: 4, limit: 3 }), { items: [], total: 7 })
  t.same(await listPayments(pool, { ...defaultQuery, page: 2 ** 31 - 1 }), { items: [], total: 7 })
})

t.test('payments: filters narrow the list and its total [10.2-bounds]', async (t) => {
  const { pool } = await projected(t, [{}, { guest_email: 'Contact@Example.com' }, {}, {}])
  t.same(await numbers(pool, { status: 'pending' }), [3, 2, 1, 0])
  t.same(await listPayments(pool, { ...defaultQuery, status: 'succeeded' }), { items: [], total: 0 })
  t.same(await numbers(pool, { guest_email: 'contact@example.COM' }), [1])
  t.same(await numbers(pool, { guest_email: 'contact' }), [])
  t.same(await numbers(pool, { created_after: new Date(at(1)) }), [3, 2], 'bounds are exclusive')
  t.same(await numbers(pool, { created_before: new Date(at(1)) }), [0])
  t.same(await numbers(pool, { created_after: new Date(at(0)), created_before: new Date(at(3)) }), [2, 1])
})

t.test('payments: search finds parts of id, e-mail and description, and has no wildcards [4.2-search]', async (t) => {
  const { pool } = await projected(t, [
    { description: '100% cotton' },
    { description: '1000 cotton' },
    { description: 'file_name' },
    { description: 'file-name' },
    { description: 'back\\slash' },
    { description: 'ÜBERWEISUNG' },
    { ...user('alice', 'Alice.Smith@example.com'), description: null },
    { guest_email: 'contact@example.org' },
    { concept: 'secretconcept', reference_code: 'R-77' },
  ])
  const searches: [string, number[]][] = [
    ['0%', [0]],
    ['e_n', [2]],
    ['k\\s', [4]],
    ['COTTON', [1, 0]],
    ['überweisung', [5]],
    ['alice.smith', [6]],
    ['CONTACT@', [7]],
    ['8000-000000000003', [3]],
    ['secretconcept', []],
    ['R-77', []],
    ["'; drop table x; --", []],
    ['%', [0]],
    ['_', [2]],
    ['\\', [4]],
  ]
  for (const [search, expected] of searches) t.same(await numbers(pool, { search }), expected, search)
  t.equal((await numbers(pool, { search: '' })).length, 9, 'an empty search matches everything')
})

t.test('payments: owners see only their own, and guests also those that were made for them', async (t) => {
  const { pool } = await projected(t, [
    user('alice', 'alice@example.com'),
    user('bob', 'bob@example.com'),
    guest('Alice@example.com'),
    guest('carol@example.com'),
    { ...user('bob'), guest_email: 'carol@example.com' },
    { payer: { id: null, type: 'guest', email: null } },
  ])
  const seenBy = (owner: string) => numbers(pool, { owner })
  t.same(await seenBy(alice), [0])
  t.same(await seenBy(userOwner('bob')), [4, 1])
  t.same(await seenBy(guestOwner('alice@EXAMPLE.com')), [2], 'a user with the same e-mail is a different owner')
  t.same(await seenBy(guestOwner('carol@example.com')), [4, 3], 'a user’s payment for the guest is read by both')
  const [made, read] = await Promise.all(
    ['bob', null].map((name) =>
      getPayment(pool, { id: id(4), owner: name === null ? guestOwner('carol@example.com') : userOwner(name) }),
    ),
  )
  t.equal(made?.item.client_secret, `cs_${id(4)}`)
  t.same(read?.item, { ...made?.item, client_secret: null }, 'only the user reads the client secret')
  t.match(await getPayment(pool, { id: id(3), owner: guestOwner('carol@example.com') }), {
    item: { client_secret: `cs_${id(3)}` },
  })
  t.same(await seenBy(guestOwner('')), [])
  t.same(await seenBy(userOwner('carol@example.com')), [])
  for (const owner of [alice, guestOwner('alice@example.com'), guestOwner('')])
    t.equal(await getPayment(pool, { id: id(5), owner }), undefined, 'an anonymous payment without e-mail has no owner')
  t.equal(await getPayment(pool, { id: id(1), owner: alice }), undefined)
  t.match(await getPayment(pool, { id: id(0), owner: alice }), { revision: 1n, item: { id: id(0) } })
})

t.test('payments: e-mails that are equal only in Unicode case folding belong to two guests', async (t) => {
  t.not(guestOwner('\u212aelvin@example.com'), guestOwner('kelvin@example.com'))
  const token = { kind: 'guest', token_hash: 'h' } as const
  t.equal(ownerOf({ ...token, guest_email: 'A@Example.com' }), guestOwner('a@example.COM'))
})

t.test('a listed payment leaves out the fields of the single payment', async (t) => {
  const { pool } = await projected(t, [{ metadata: { secret: 1 } }])
  const { items: plain } = await listPayments(pool, defaultQuery)
  const hidden = ['provider_payment_id', 'provider_intent_id', 'client_secret', 'metadata', 'payment_method', 'owner']
  for (const field of hidden) t.notOk(Object.hasOwn(plain[0] ?? {}, field), field)
  const { items: including } = await listPayments(pool, { ...defaultQuery, withMethod: true })
  t.equal(including[0]?.payment_method, null)
  const single = await getPayment(pool, { id: id(0), owner: alice })
  t.match(single?.item, { metadata: { secret: 1 }, client_secret: `cs_${id(0)}`, payment_method: null })
})
