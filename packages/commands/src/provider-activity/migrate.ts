// The tables of the providers' activity: the schema `providers`.
import { grantTables } from '@paylog/runtime/postgres/grantTables'
import { migrate } from '@paylog/runtime/postgres/migrate'
import type { Pool } from 'pg'

const tables = ['providers.activity', 'providers.refused_signatures']

/** Applies the missing migrations of the schema `providers`. Several processes may call it at once. */
export const migrateProviderActivity = (pool: Pool): Promise<string[]> =>
  migrate(pool, { schema: 'providers', directory: new URL('./migrations/', import.meta.url) })

/**
 * Lets a role record what providers do. A repeated call changes nothing.
 * @returns the tables that the role could not use before
 * @throws UnknownRoleError
 */
export const grantActivityAccess = (pool: Pool, role: string): Promise<string[]> =>
  grantTables(pool, role, tables, ['select', 'insert', 'update'])
