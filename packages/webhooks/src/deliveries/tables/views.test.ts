import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import t from 'tap'
import { columns, webhookViews } from './views.ts'

t.test('the views of deliveries have the described columns, and no others', async (t) => {
  const { databaseUrl } = await createMigratedDatabase(t)
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 1, log })
  t.teardown(() => pool.end())
  for (const [view, described] of Object.entries(columns)) {
    const { rows } = await pool.query<{ name: string; type: string }>(
      `select column_name as name, udt_name as type from information_schema.columns
       where table_schema = 'webhooks' and table_name = $1`,
      [view],
    )
    t.same(
      Object.fromEntries(rows.map(({ name, type }) => [name, type])),
      Object.fromEntries(Object.entries(described).map(([name, { type }]) => [name, type])),
      view,
    )
  }
})

t.test('a column that a view lacks, or a value of another type, does not compile', (t) => {
  const deliveries = webhookViews.selectFrom('webhooks.log')
  // @ts-expect-error: the key that a claim needs is not read
  deliveries.select('claimed_by')
  // @ts-expect-error: it is a number
  deliveries.where('attempts', '=', 'many')
  // @ts-expect-error: no such view
  webhookViews.selectFrom('webhooks.endpoints')
  t.end()
})
