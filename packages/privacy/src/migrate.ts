// Applies the migrations of the schema `privacy`.
import { migrate } from '@paylog/runtime/postgres/migrate'
import type { Pool } from 'pg'

/** Applies the missing migrations of the schema `privacy`. Several processes may call it at once. */
export const migratePrivacy = (pool: Pool): Promise<string[]> =>
  migrate(pool, { schema: 'privacy', directory: new URL('./migrations/', import.meta.url) })
