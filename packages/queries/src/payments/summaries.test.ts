// The method summaries of payments.

import { randomUUID } from 'node:crypto'
import { guestOwner, userOwner } from '@paylog/domain/actor'
import { changeAlias, paymentMethodFold, removePaymentMethod } from '@paylog/domain/payment-methods/paymentMethod'
import { paymentMethods } from '@paylog/projections/payment-methods/projection'
import { payments } from '@paylog/projections/payments/projection'
import {
  addMethodTo,
  addPaymentTo,
  createLogFixture,
  guest,
  type LogFixture,
  ofGuest,
  ofUser,
  type PaymentFacts,
  user,
} from '@paylog/projections/testing/logFixture'
import { readModelDatabase, reapply } from '@paylog/projections/testing/projectionHarness'
import type { Pool } from 'pg'
import t, { type Test } from 'tap'
import { readItem, readPage } from '../lists/lists.ts'
import { paymentListWithMethods, singlePayment } from './queries.ts'

const occurred_at = '2026-03-01T10:00:00.000Z'

async function methodsOf(pool: Pool, owner: string) {
  const { items } = await readPage(pool, paymentListWithMethods, { owner, offset: 0, limit: 50 })
  return items
}

async function startLog(t: Test) {
  const { pool } = await readModelDatabase(t)
  return { pool, log: createLogFixture() }
}

async function project(pool: Pool, log: LogFixture): Promise<void> {
  await reapply(pool, payments, log)
  await reapply(pool, paymentMethods, log)
}

t.test('a single payment and a list with methods contain the method summary, even of a removed method', async (t) => {
  const { pool, log } = await startLog(t)
  const details = { wallet_type: 'apple_pay', card_brand: 'amex', last_four: '0005', alias: 'Work' }
  const method = addMethodTo(log, { ...ofUser('u1'), ...details })
  const id = addPaymentTo(log, { ...user('u1'), payment_method_id: method })
  const expected = { id: method, payment_type: 'card', ...details, expiry_month: '04', expiry_year: '2031' }
  const checkSummary = async () => {
    await project(pool, log)
    t.same((await methodsOf(pool, userOwner('u1')))[0]?.payment_method, expected)
    t.same((await readItem(pool, singlePayment, { id, owner: userOwner('u1') }))?.item.payment_method, expected)
  }
  await checkSummary()
  log.record(paymentMethodFold, method, (state) => changeAlias({ occurred_at, alias: 'Home' }, state))
  expected.alias = 'Home'
  await checkSummary()
  log.record(paymentMethodFold, method, (state) => removePaymentMethod({ occurred_at, by: 'owner' }, state))
  await checkSummary()
})

t.test('a payment shows only summaries of its owner’s methods', async (t) => {
  const { pool, log } = await startLog(t)
  const methods = {
    own: addMethodTo(log, ofUser('u1')),
    others: addMethodTo(log, ofUser('u2')),
    guests: addMethodTo(log, ofGuest('U1@example.com')),
    ownerless: addMethodTo(log, { user_id: null, guest_email: null }),
  }
  const named: [PaymentFacts, string | null, boolean][] = [
    [user('u1'), methods.own, true],
    [user('u1'), methods.own.toUpperCase(), true],
    [user('u1'), methods.others, false],
    [user('u1'), methods.guests, false],
    [user('u1'), methods.ownerless, false],
    [user('u1'), randomUUID(), false],
    [user('u1'), 'pm_card_visa', false],
    [user('u1'), `${methods.own} `, false],
    [user('u1'), `x\n${methods.own}`, false],
    [user('u1'), '', false],
    [user('u1'), null, false],
    [guest('u1@EXAMPLE.com'), methods.guests, true],
    [guest('u1@example.com'), methods.own, false],
  ]
  const expected = new Map(
    named.map(([payer, payment_method_id, isShown]) => {
      const id = addPaymentTo(log, { ...payer, payment_method_id })
      return [id, isShown ? (payment_method_id?.toLowerCase() ?? null) : null] as const
    }),
  )
  await project(pool, log)
  for (const owner of [userOwner('u1'), guestOwner('u1@example.com')]) {
    for (const { id, payment_method } of await methodsOf(pool, owner)) {
      t.equal(payment_method?.id ?? null, expected.get(id), `listed, with ${payment_method?.id}`)
      const single = await readItem(pool, singlePayment, { id, owner })
      t.same(single?.item.payment_method, payment_method)
      expected.delete(id)
    }
  }
  t.equal(expected.size, 0)
})
