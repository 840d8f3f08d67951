// Grants a role what a process needs that seals and reads personal data, but destroys no key.
import { grantTables } from '@paylog/runtime/postgres/grantTables'
import type pg from 'pg'

const tables = ['privacy.keys', 'privacy.emails', 'privacy.lookup_secret']

/**
 * Lets a role read and add keys, but not change or remove them. A repeated call changes nothing.
 * @returns the tables that the role could not use before
 * @throws UnknownRoleError
 */
export async function grantKeyAccess(pool: pg.Pool, role: string): Promise<string[]> {
  // It waits for another process to apply the erasures in the log.
  await grantTables(pool, role, ['privacy.progress'], ['select'])
  return await grantTables(pool, role, tables, ['select', 'insert'])
}
