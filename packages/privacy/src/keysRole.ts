// Grants a role what a process needs that seals and reads personal data, but destroys no key.
import { lockKey } from '@paylog/runtime/postgres/lock'
import { requireRole } from '@paylog/runtime/postgres/readerRole'
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import pg from 'pg'

const tables = ['privacy.keys', 'privacy.emails', 'privacy.lookup_secret']

/**
 * Lets a role read and add keys, but not change or remove them. A repeated call changes nothing.
 * @returns the tables that the role could not use before
 * @throws UnknownRoleError
 */
export async function grantKeyAccess(pool: pg.Pool, role: string): Promise<string[]> {
  await requireRole(pool, role)
  const grantee = pg.escapeIdentifier(role)
  return await inTransaction(pool, async (client) => {
    // Concurrent grants on the same object fail in Postgres.
    await client.query('select pg_advisory_xact_lock($1)', [lockKey('grant keys')])
    const { rows } = await client.query<{ name: string }>(
      `select name from unnest($1::text[]) as name
       where not (has_table_privilege($2, name, 'select') and has_table_privilege($2, name, 'insert'))`,
      [tables, role],
    )
    await client.query(`grant usage on schema privacy to ${grantee}`)
    // It waits for another process to apply the erasures in the log.
    await client.query(`grant select on privacy.progress to ${grantee}`)
    for (const { name } of rows) await client.query(`grant select, insert on ${name} to ${grantee}`)
    return rows.map(({ name }) => name)
  })
}
