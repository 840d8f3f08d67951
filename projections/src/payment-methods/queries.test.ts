import { guestOwner, userOwner } from '@paylog/domain/actor'
import { paymentMethodFold, removePaymentMethod } from '@paylog/domain/payment-methods/paymentMethod'
import type { Pool } from 'pg'
import t, { type Test } from 'tap'
import { newestFirst } from '../queries/listPage.ts'
import { addMethodTo, createLogFixture, ofGuest, ofUser } from '../testing/logFixture.ts'
import { readModelDatabase, reapply } from '../testing/projectionHarness.ts'
import { paymentMethods } from './projection.ts'
import { getPaymentMethod, listPaymentMethods, type PaymentMethodsQuery } from './queries.ts'

const defaultQuery: PaymentMethodsQuery = {
  owner: userOwner('u1'),
  guest_email: undefined,
  page: 1,
  limit: 50,
  ...newestFirst,
}
const at = (minute: number) => ({ occurred_at: `2026-03-01T10:${String(minute).padStart(2, '0')}:00.000Z` })

async function ids(pool: Pool, query: Partial<PaymentMethodsQuery>): Promise<string[]> {
  const { items } = await listPaymentMethods(pool, { ...defaultQuery, ...query })
  return items.map(({ id }) => id)
}

async function startLog(t: Test) {
  const { pool } = await readModelDatabase(t)
  return { pool, log: createLogFixture() }
}

t.test('payment methods: newest first, then by id, and the pages cover the list exactly once', async (t) => {
  const { pool, log } = await startLog(t)
  const first = addMethodTo(log, at(0))
  const same = [addMethodTo(log, at(1)), addMethodTo(log, at(1)), addMethodTo(log, at(1))].toSorted().toReversed()
  const last = addMethodTo(log, at(2))
  await reapply(pool, paymentMethods, log)
  const expected = [last, ...same, first]
  t.same(await ids(pool, {}), expected)
  const pages = await Promise.all([1, 2, 3].map((page) => ids(pool, { page, limit: 2 })))
  t.same(pages.flat(), expected)
  for (const page of [1, 3, 4, 2 ** 31 - 1])
    t.equal((await listPaymentMethods(pool, { ...defaultQuery, page, limit: 2 })).total, 5, `page ${page}`)
})

t.test('payment methods: a removed method is in no list, total or response', async (t) => {
  const { pool, log } = await startLog(t)
  const [kept, gone] = [addMethodTo(log), addMethodTo(log)]
  log.record(paymentMethodFold, gone, (state) => removePaymentMethod({ ...at(1), by: 'owner' }, state))
  await reapply(pool, paymentMethods, log)
  t.match(await listPaymentMethods(pool, defaultQuery), { total: 1, items: [{ id: kept }] })
  t.same(await ids(pool, {}), [kept])
  t.equal(await getPaymentMethod(pool, { id: gone, owner: defaultQuery.owner }), undefined)
})

t.test('payment methods: each owner sees only their own', async (t) => {
  const { pool, log } = await startLog(t)
  const owned = {
    [userOwner('u1')]: addMethodTo(log, ofUser('u1')),
    [userOwner('u2')]: addMethodTo(log, { ...ofUser('u2'), guest_email: 'g@example.com' }),
    [guestOwner('G@example.com')]: addMethodTo(log, ofGuest('g@EXAMPLE.com')),
    [guestOwner('\u212aelvin@example.com')]: addMethodTo(log, ofGuest('\u212aelvin@example.com')),
  }
  const ownerless = addMethodTo(log, { user_id: null, guest_email: null })
  await reapply(pool, paymentMethods, log)
  for (const owner of [...Object.keys(owned), guestOwner('kelvin@example.com'), guestOwner(''), userOwner('')]) {
    t.same(await ids(pool, { owner }), Object.hasOwn(owned, owner) ? [owned[owner]] : [], owner)
    for (const [other, id] of Object.entries(owned))
      t.equal((await getPaymentMethod(pool, { id, owner }))?.item.id, other === owner ? id : undefined)
    t.equal(await getPaymentMethod(pool, { id: ownerless, owner }), undefined)
  }
})

t.test('payment methods: the e-mail filter compares the whole e-mail without case', async (t) => {
  const { pool, log } = await startLog(t)
  const id = addMethodTo(log, { ...ofUser('u1'), guest_email: 'Contact@Example.com' })
  addMethodTo(log)
  await reapply(pool, paymentMethods, log)
  t.same(await ids(pool, { guest_email: 'cONTACT@example.com' }), [id])
  t.same(await ids(pool, { guest_email: 'contact@example.co' }), [])
  t.equal((await listPaymentMethods(pool, { ...defaultQuery, guest_email: 'contact@example.com' })).total, 1)
})
