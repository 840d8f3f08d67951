// Grants a read-only role access to views.
import pg from 'pg'
import { lockKey } from './lock.ts'
import { inTransaction } from './transaction.ts'

/** The role does not exist. The message has the command that creates it. */
export class UnknownRoleError extends Error {
  override readonly name = 'UnknownRoleError'

  constructor(role: string) {
    super(`there is no role ${role}: create it in Postgres (create role ${pg.escapeIdentifier(role)}), then try again`)
  }
}

/** @throws UnknownRoleError */
export async function requireRole(db: Pick<pg.Pool, 'query'>, role: string): Promise<void> {
  const { rowCount } = await db.query('select from pg_roles where rolname = $1', [role])
  if (rowCount === 0) throw new UnknownRoleError(role)
}

/**
 * Grants a role read access to all views in these schemas. Views run with their owner's rights, so the tables behind them
 * stay inaccessible. Existing grants stay; a repeated call adds only what is missing.
 *
 * @returns the views that the role could not read before, sorted by name
 * @throws UnknownRoleError
 */
export async function grantReadAccess(
  pool: pg.Pool,
  { role, schemas }: { readonly role: string; readonly schemas: readonly string[] },
): Promise<string[]> {
  await requireRole(pool, role)
  return inTransaction(pool, async (client) => {
    // Concurrent grants on the same object fail in Postgres.
    await client.query('select pg_advisory_xact_lock($1)', [lockKey('grant reading')])
    const { rows: views } = await client.query<{ name: string }>(
      `select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       where relkind = 'v' and nspname = any($1) and not has_table_privilege($2, pg_class.oid, 'select') order by 1`,
      [schemas, role],
    )
    const { rows: closed } = await client.query<{ name: string }>(
      `select quote_ident(nspname) as name from pg_namespace
       where nspname = any($1) and not has_schema_privilege($2, pg_namespace.oid, 'usage')`,
      [schemas, role],
    )
    const reader = pg.escapeIdentifier(role)
    for (const { name } of closed) await client.query(`grant usage on schema ${name} to ${reader}`)
    for (const { name } of views) await client.query(`grant select on ${name} to ${reader}`)
    return views.map(({ name }) => name)
  })
}
