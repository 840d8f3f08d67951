import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import t from 'tap'
import { columns, webhookTables } from './columns.ts'

t.test('the tables of deliveries have the described columns, and no others', async (t) => {
  const { databaseUrl } = await createMigratedDatabase(t)
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 1, log })
  t.teardown(() => pool.end())
  for (const [table, described] of Object.entries(columns)) {
    const isView = table === 'backlog'
    const { rows } = await pool.query<{ name: string; type: string }>(
      `select column_name as name, udt_name || case when is_nullable = 'YES' and not $2 then '?' else '' end as type
       from information_schema.columns where table_schema = 'webhooks' and table_name = $1`,
      [table, isView],
    )
    const typeOf = (type: string) => (isView ? type.replace('?', '') : type)
    t.same(
      Object.fromEntries(rows.map(({ name, type }) => [name, type])),
      Object.fromEntries(Object.entries(described).map(([name, type]) => [name, typeOf(type)])),
      table,
    )
  }
})

t.test('a column that a table lacks, or a value of another type, does not compile', (t) => {
  const deliveries = webhookTables.selectFrom('webhooks.deliveries')
  // @ts-expect-error: only finished deliveries have it
  deliveries.select('ended_at')
  // @ts-expect-error: it is a number
  deliveries.where('attempts', '=', 'many')
  // @ts-expect-error: no such table
  webhookTables.selectFrom('webhooks.endpoints')
  t.end()
})
