import { paymentMethodFold, removePaymentMethod } from '@paylog/domain/payment-methods/paymentMethod'
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import t from 'tap'
import { paymentMethods } from '../payment-methods/projection.ts'
import { payments } from '../payments/projection.ts'
import { makeTable } from '../tables/tables.ts'
import { differenceOf, foldedRows, tableRows } from '../testing/expectedRows.ts'
import { awkwardTexts } from '../testing/historyArbitraries.ts'
import { addMethodTo, addPaymentTo, createLogFixture } from '../testing/logFixture.ts'
import { readModelDatabase } from '../testing/projectionHarness.ts'
import { foldBatch } from './batch.ts'
import { copyRows, upsertRows } from './writers.ts'

t.test('COPY writes every text exactly like INSERT', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  for (const text of [...awkwardTexts, null]) {
    addPaymentTo(log, {
      description: text,
      concept: text,
      tags: text,
      metadata: { key: text, [text ?? 'none']: [text, 1, true, null] },
    })
  }
  const version = await makeTable(pool, payments, 'building')
  const folded = foldBatch(payments, log.events)
  await inTransaction(pool, (client) => copyRows(payments, version)(client, folded))
  await inTransaction(pool, (client) => upsertRows(payments, 1)(client, folded))
  const expected = foldedRows(payments, log.events)
  t.equal(expected.size, awkwardTexts.length + 1)
  t.equal(differenceOf(await tableRows(pool, payments, `payments_v${version}`), expected), undefined)
  const { rows } = await pool.query(
    `select t::text from read_models.payments_v${version} as t except select t::text from read_models.payments_v1 as t`,
  )
  t.same(rows, [])
})

t.test('a row that starts again is inserted, not copied, when its old row exists', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  const payment_method_id = addMethodTo(log)
  log.record(paymentMethodFold, payment_method_id, (state) =>
    removePaymentMethod({ occurred_at: '2026-03-02T10:00:00.000Z', by: 'owner' }, state),
  )
  addMethodTo(log, { payment_method_id, alias: 'again' })
  const write = copyRows(paymentMethods, await makeTable(pool, paymentMethods, 'building'))
  for (const events of [log.events.slice(0, 2), log.events.slice(2)])
    await inTransaction(pool, (client) => write(client, foldBatch(paymentMethods, events)))
  const { rows } = await pool.query(
    'select id, alias, revision::integer, is_removed from read_models.payment_methods_v2',
  )
  t.same(rows, [{ id: payment_method_id, alias: 'again', revision: 2, is_removed: false }])
})

t.test('COPY writes large rows completely', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  for (let row = 0; row < 6; row += 1) addPaymentTo(log, { description: `${'ä\\\t'.repeat(250_000)}${row}` })
  const version = await makeTable(pool, payments, 'building')
  await inTransaction(pool, (client) => copyRows(payments, version)(client, foldBatch(payments, log.events)))
  const rows = await tableRows(pool, payments, `payments_v${version}`)
  t.equal(differenceOf(rows, foldedRows(payments, log.events)), undefined)
})
