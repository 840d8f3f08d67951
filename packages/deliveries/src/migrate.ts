// Brings the worker's tables up to date.
import { migrate } from '@paylog/runtime/postgres/postgres'
import type { Pool } from 'pg'

/**
 * Applies what is missing in the schema `webhooks`, which holds the follow-ups as well. Safe to call from several
 * processes at once.
 */
export function migrateWebhooks(pool: Pool): Promise<string[]> {
  return migrate(pool, { schema: 'webhooks', directory: new URL('./migrations/', import.meta.url) })
}
