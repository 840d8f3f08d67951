// Grants a role access to tables.
import pg from 'pg'
import { lockKey } from './lock.ts'
import { requireRole } from './readerRole.ts'
import { inTransaction } from './transaction.ts'

type Privilege = 'select' | 'insert' | 'update'

/**
 * Grants a role these privileges on tables, and the use of their schemas. A repeated call changes nothing.
 * @param tables with their schema
 * @returns the tables on which the role lacked one of them, in the given order
 * @throws UnknownRoleError
 */
export async function grantTables(
  pool: pg.Pool,
  role: string,
  tables: readonly string[],
  privileges: readonly Privilege[],
): Promise<string[]> {
  await requireRole(pool, role)
  const grantee = pg.escapeIdentifier(role)
  return await inTransaction(pool, async (client) => {
    // Concurrent grants on the same object fail in Postgres.
    await client.query('select pg_advisory_xact_lock($1)', [lockKey('grant tables')])
    const { rows } = await client.query<{ name: string }>(
      `select name from unnest($1::text[]) with ordinality as wanted (name, at)
       where not (select bool_and(has_table_privilege($2, name, privilege)) from unnest($3::text[]) as privilege)
       order by at`,
      [tables, role, privileges],
    )
    for (const { name } of rows) {
      await client.query(`grant usage on schema ${name.split('.')[0]} to ${grantee}`)
      await client.query(`grant ${privileges.join(', ')} on ${name} to ${grantee}`)
    }
    return rows.map(({ name }) => name)
  })
}
