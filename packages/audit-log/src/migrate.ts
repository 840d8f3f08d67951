// Applies the migrations of the schema `audit`.
import { migrate } from '@paylog/runtime/postgres/migrate'
import type { Pool } from 'pg'

/** Applies the missing migrations of the schema `audit`. Several processes may call it at once. */
export const migrateAudit = (pool: Pool): Promise<string[]> =>
  migrate(pool, { schema: 'audit', directory: new URL('./migrations/', import.meta.url) })
