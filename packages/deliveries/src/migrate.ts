// Applies the migrations of the schema `webhooks`.
import { migrate } from '@paylog/runtime/postgres/migrate'
import type { Pool } from 'pg'

/** Applies the missing migrations of the schema `webhooks`. Several processes may call it at once. */
export function migrateWebhooks(pool: Pool): Promise<string[]> {
  return migrate(pool, { schema: 'webhooks', directory: new URL('./migrations/', import.meta.url) })
}
