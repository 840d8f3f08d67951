import { inTransaction } from '@paylog/runtime/postgres/transaction'
import type { Pool } from 'pg'
import t from 'tap'
import { createApplier } from '../apply/applier.ts'
import { payments } from '../payments/projection.ts'
import { addPaymentTo, createLogFixture } from '../testing/logFixture.ts'
import { readModelDatabase } from '../testing/projectionHarness.ts'
import { differencesOf, type RowDifference, sumOf } from './comparison.ts'
import { makeTable } from './tables.ts'

/** Two tables with the same rows: the live one and one beside it. */
async function twoTables(pool: Pool, count: number): Promise<string[]> {
  const log = createLogFixture()
  for (let row = 0; row < count; row += 1) addPaymentTo(log, { metadata: { a: 1 } })
  await makeTable(pool, payments, 'building')
  for (const version of [1, 2]) {
    const applier = createApplier({ pool, projection: payments, version, source: log })
    await applier.start()
    await applier.apply(log.batch())
  }
  return [...new Set(log.events.map(({ id }) => id))].toSorted()
}

async function compared(pool: Pool): Promise<{ isSame: boolean; differences: RowDifference[] }> {
  return inTransaction(pool, async (client) => {
    const [found, expected] = [await sumOf(client, payments, 1), await sumOf(client, payments, 2)]
    const differences: RowDifference[] = []
    for await (const row of differencesOf(client, payments, { found: 1, expected: 2 })) differences.push(row)
    return { isSame: found.rows === expected.rows && found.hash === expected.hash, differences }
  })
}

t.test('each differing row is found, with its differing columns and their values', async (t) => {
  const { pool } = await readModelDatabase(t)
  const [id = ''] = await twoTables(pool, 3)
  t.same(await compared(pool), { isSame: true, differences: [] })
  const cases: readonly (readonly [string, string, unknown, unknown])[] = [
    ['status', "'succeeded'", 'succeeded', 'pending'],
    // Personal data is not shown.
    ['description', "''", '[redacted]', null],
    ['total_cents', '999', 999, 1000],
    ['revision', '7', 7, 1],
    ['is_guest_payment', 'not is_guest_payment', false, true],
    [
      'updated_at',
      "updated_at + interval '1 microsecond'",
      '2026-03-01T10:00:00.000001+00:00',
      '2026-03-01T10:00:00+00:00',
    ],
    ['metadata', `'{"a": 1}'`, '[redacted]', '[redacted]'],
    ['dispute_statuses', `'{"d":"open"}'`, { d: 'open' }, null],
    ['completed_at', "'infinity'", 'infinity', null],
  ]
  for (const [column, value, found, expected] of cases) {
    await pool.query(`update read_models.payments_v1 set ${column} = ${value} where id = $1`, [id])
    t.same(await compared(pool), {
      isSame: false,
      differences: [{ id, kind: 'different', columns: [{ column, found, expected }] }],
    })
    await pool.query(
      `update read_models.payments_v1 as t set ${column} = o.${column} from read_models.payments_v2 as o where o.id = t.id`,
    )
  }
  await pool.query(`update read_models.payments_v1 set total_cents = 9007199254740993 where id = '${id}';
    update read_models.payments_v2 set total_cents = 9007199254740992 where id = '${id}'`)
  const columns = [{ column: 'total_cents', found: '9007199254740993', expected: '9007199254740992' }]
  t.same(
    (await compared(pool)).differences,
    [{ id, kind: 'different', columns }],
    'numbers that are equal in JavaScript',
  )
})

t.test('more than a thousand missing and additional rows are reported in order', async (t) => {
  const { pool } = await readModelDatabase(t)
  const ids = await twoTables(pool, 1_200)
  const [missing, extra] = [ids.filter((_, index) => index % 2 === 0), ids.filter((_, index) => index % 2 === 1)]
  await pool.query('delete from read_models.payments_v1 where id = any($1)', [missing])
  await pool.query('delete from read_models.payments_v2 where id = any($1)', [extra])
  const { isSame, differences } = await compared(pool)
  t.notOk(isSame)
  t.same(
    differences,
    ids.map((id, index) => ({ id, kind: index % 2 === 0 ? 'missing' : 'extra' })),
  )
})
