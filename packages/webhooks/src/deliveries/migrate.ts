// Applies the migrations of the schema `webhooks`.
import { migrate } from '@paylog/runtime/postgres/migrate'
import type { Pool } from 'pg'
import { createPartitions } from './tables/partitions.ts'

/** Applies the missing migrations of the schema `webhooks`, and creates partitions. Several processes may call it at once. */
export async function migrateWebhooks(pool: Pool): Promise<string[]> {
  const applied = await migrate(pool, { schema: 'webhooks', directory: new URL('./migrations/', import.meta.url) })
  await createPartitions(pool)
  return applied
}
