// Writes the tables of a system as SQL: the migrations that made them, and their rows. The read models are left out,
// because they follow from the log.
import { readFile } from 'node:fs/promises'
import pg from 'pg'

/** The schemas with their migrations, as paths below the root. */
const schemas = {
  event_store: 'apps/embedded-event-store/src/migrations',
  privacy: 'packages/privacy/src/migrations',
  webhooks: 'packages/webhooks/src/deliveries/migrations',
  operations: 'packages/administration/src/migrations',
  audit: 'packages/audit-log/src/migrations',
  sandbox: 'packages/providers/src/sandbox/migrations',
}
const root = new URL('../../../../', import.meta.url)

/** @returns statements that make the same tables in an empty database */
export async function dumpTables(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query("begin isolation level repeatable read read only; set local timezone to 'UTC'")
    const parts: string[] = []
    for (const [schema, directory] of Object.entries(schemas)) parts.push(await dumpSchema(client, schema, directory))
    return parts.join('\n')
  } finally {
    await client.end()
  }
}

async function dumpSchema(client: pg.Client, schema: string, directory: string): Promise<string> {
  const { rows } = await client.query<{ name: string }>(`select name from ${schema}.migrations order by name`)
  const files = await Promise.all(rows.map(({ name }) => readFile(new URL(`${directory}/${name}`, root), 'utf8')))
  const tables = await tablesOf(client, schema)
  const filled: string[] = []
  for (const table of tables) filled.push(await dumpRows(client, table))
  return [
    `create schema ${schema};`,
    `set search_path to ${schema}, public;`,
    'create table migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now());',
    ...files,
    `truncate ${tables.map(({ name }) => name).join(', ')};`,
    ...filled,
    '',
  ].join('\n')
}

type Table = { readonly name: string; readonly is_partitioned: boolean; readonly columns: readonly string[] }

/** In the order in which they were made, and without what Postgres computes. */
async function tablesOf(client: pg.Client, schema: string): Promise<readonly Table[]> {
  const { rows } = await client.query<Table>(
    `select format('%I.%I', $1::text, relname) as name, relkind = 'p' as is_partitioned,
       array_agg(format('%I', attname) order by attnum) as columns
     from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = ''
     where relnamespace = $1::regnamespace and relkind in ('r', 'p') and not relispartition
     group by pg_class.oid, relname, relkind order by pg_class.oid`,
    [schema],
  )
  return rows
}

async function dumpRows(client: pg.Client, { name, is_partitioned, columns }: Table): Promise<string> {
  const texts = columns.map((column) => `quote_nullable(${column}::text)`).join(', ')
  const { rows } = await client.query<{ text: string }>(
    `select concat_ws(', ', ${texts}) as text from ${name} order by ${columns[0]}`,
  )
  if (rows.length === 0) return ''
  const values = rows.map(({ text }) => `  (${text})`).join(',\n')
  const insert = `insert into ${name} (${columns.join(', ')}) overriding system value values\n${values};`
  const day = new Date().toISOString().slice(0, 10)
  return is_partitioned ? `select create_partitions('${day}', '${day}');\n${insert}` : insert
}
