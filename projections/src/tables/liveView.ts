// The view that queries know, and the table that it shows.
import type { ClientBase } from 'pg'
import type { Projection } from '../projection.ts'

const invalidTableDefinition = '42P16'

/**
 * Has the view show this table, within the transaction of `client`, whose search path begins with the schema. Queries that
 * come meanwhile wait, and see the table afterwards.
 */
export async function showTable(client: ClientBase, { name, table: sql }: Projection, table: string): Promise<void> {
  const definition = `view ${name} as ${sql.view(table)}`
  await client.query('savepoint view')
  try {
    await client.query(`create or replace ${definition}`)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === invalidTableDefinition)) throw error
    // Only columns at its end can be new; a view that shows something else has to be made anew.
    await client.query('rollback to savepoint view')
    const grants = await grantsOn(client, name)
    await client.query(`drop view ${name}`)
    await client.query(`create ${definition}`)
    for (const grant of grants) await client.query(grant)
  }
}

/** The statements that give others what they may do with a view: it goes with the view. */
async function grantsOn(client: ClientBase, view: string): Promise<string[]> {
  const { rows } = await client.query<{ grant: string }>(
    `select format('grant %s on %I to %s%s', privilege_type, relname,
       case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end,
       case when is_grantable then ' with grant option' else '' end) as grant
     from pg_class, aclexplode(relacl)
     where pg_class.oid = $1::regclass and grantee <> relowner`,
    [view],
  )
  return rows.map(({ grant }) => grant)
}
