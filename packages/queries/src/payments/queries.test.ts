import { guestOwner, userOwner } from '@paylog/domain/actor'
import { payments } from '@paylog/projections/payments/projection'
import { addPaymentTo, createLogFixture, guest, type PaymentFacts, user } from '@paylog/projections/testing/logFixture'
import { readModelDatabase, reapply } from '@paylog/projections/testing/projectionHarness'
import type { Pool } from 'pg'
import t from 'tap'
import { readItem, readPage } from '../lists/lists.ts'
import { paymentList, paymentListWithMethods, singlePayment } from './queries.ts'

const alice = userOwner('alice')
const id = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
const at = (minute: number) => `2026-03-01T10:${String(minute).padStart(2, '0')}:00.000Z`

/** The ids that a query finds, as the numbers given by the test. */
async function numbers(pool: Pool, query: { readonly owner?: string; readonly search?: string }): Promise<number[]> {
  const { items } = await readPage(pool, paymentList, { owner: alice, limit: 50, offset: 0, ...query })
  return items.map((payment) => Number(payment.id.slice(-12)))
}

async function projected(t: Parameters<typeof readModelDatabase>[0], facts: readonly PaymentFacts[]) {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  facts.forEach((given, index) => {
    addPaymentTo(log, { ...user('alice'), payment_id: id(index), occurred_at: at(index), ...given })
  })
  await reapply(pool, payments, log)
  return { pool }
}

t.test('payments: search finds parts of id, e-mail and texts, and has no wildcards [4.2-search]', async (t) => {
  const { pool } = await projected(t, [
    { description: '100% cotton' },
    { description: '1000 cotton' },
    { description: 'file_name' },
    { description: 'file-name' },
    { description: 'back\\slash' },
    { description: 'ÜBERWEISUNG' },
    { ...user('alice', 'Alice.Smith@example.com'), description: null },
    { guest_email: 'contact@example.org' },
    { concept: 'Jahresbeitrag', reference_code: 'R-77' },
    { description: 'Cafe\u0301 nai\u0308f', concept: 'Z\u00fcrich' },
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
    ['beitrag', [8]],
    ['r-77', [8]],
    ['caf\u00e9 na\u00ef', [9]],
    ['zu\u0308rich', [9]],
    ["'; drop table x; --", []],
    ['%', [0]],
    ['_', [2]],
    ['\\', [4]],
  ]
  for (const [search, expected] of searches) t.same(await numbers(pool, { search }), expected, search)
  t.equal((await numbers(pool, { search: '' })).length, 10, 'an empty search matches everything')
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
      readItem(pool, singlePayment, {
        id: id(4),
        owner: name === null ? guestOwner('carol@example.com') : userOwner(name),
      }),
    ),
  )
  t.equal(made?.item.client_secret, `cs_${id(4)}`)
  t.same(read?.item, { ...made?.item, client_secret: null }, 'only the user reads the client secret')
  t.match(await readItem(pool, singlePayment, { id: id(3), owner: guestOwner('carol@example.com') }), {
    item: { client_secret: `cs_${id(3)}` },
  })
  t.same(await seenBy(guestOwner('')), [])
  t.same(await seenBy(userOwner('carol@example.com')), [])
  for (const owner of [alice, guestOwner('alice@example.com'), guestOwner('')])
    t.equal(
      await readItem(pool, singlePayment, { id: id(5), owner }),
      undefined,
      'an anonymous payment without e-mail has no owner',
    )
  t.equal(await readItem(pool, singlePayment, { id: id(1), owner: alice }), undefined)
  t.match(await readItem(pool, singlePayment, { id: id(0), owner: alice }), { revision: 1n, item: { id: id(0) } })
})

t.test('a listed payment leaves out the fields of the single payment', async (t) => {
  const { pool } = await projected(t, [{ metadata: { secret: 1 } }])
  const firstPage = { owner: alice, limit: 50, offset: 0 }
  const { items: plain } = await readPage(pool, paymentList, firstPage)
  const hidden = ['provider_payment_id', 'provider_intent_id', 'client_secret', 'metadata', 'payment_method', 'owner']
  for (const field of hidden) t.notOk(Object.hasOwn(plain[0] ?? {}, field), field)
  const { items: including } = await readPage(pool, paymentListWithMethods, firstPage)
  t.equal(including[0]?.payment_method, null)
  const single = await readItem(pool, singlePayment, { id: id(0), owner: alice })
  t.match(single?.item, { metadata: { secret: 1 }, client_secret: `cs_${id(0)}`, payment_method: null })
})
