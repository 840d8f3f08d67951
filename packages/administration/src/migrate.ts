// Applies the migrations of the schema `operations`.
import { migrate } from '@paylog/runtime/postgres/migrate'
import type { Pool } from 'pg'

/** Applies the missing migrations of the schema `operations`. Several processes may call it at once. */
export const migrateOperations = (pool: Pool): Promise<string[]> =>
  migrate(pool, { schema: 'operations', directory: new URL('./migrations/', import.meta.url) })
