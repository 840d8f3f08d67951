// Empties deliveries of personal data whose key was destroyed. The rows stay: what was sent when, and with which result.
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import type { Pool, PoolClient } from 'pg'

/** While deliveries are emptied, none can begin or end, so a batch takes a fraction of a second. */
const emptiedAtOnce = 500
/** Only partitions of past days have an index of the keys. The present one is read as a whole. */
const findTimeoutMs = 300_000

/**
 * Empties all deliveries whose content came from these keys: their bodies and the responses, which may repeat the bodies. An
 * interrupted call is repeated as a whole. No delivery with such content may be inserted later, except by a backfill, which
 * compares its deliveries with `erased_keys`.
 * @returns how many were emptied
 */
export async function emptyDeliveries(pool: Pool, keyIds: readonly string[]): Promise<number> {
  await inTransaction(pool, async (client) => {
    // Waits until backfills have inserted what they have read. Those that begin later find the keys.
    await client.query('lock table webhooks.checkpoints in row exclusive mode')
    await client.query('insert into webhooks.erased_keys (id) select unnest($1::uuid[]) on conflict do nothing', [
      keyIds,
    ])
  })
  const ids = await inTransaction(pool, (client) => affectedBy(client, keyIds))
  for (let start = 0; start < ids.length; start += emptiedAtOnce) {
    const batch = ids.slice(start, start + emptiedAtOnce)
    await inTransaction(pool, async (client) => {
      // Otherwise a delivery could move from one table to the other between the two statements.
      await client.query('lock table only webhooks.finished_deliveries in share row exclusive mode')
      for (const table of ['deliveries', 'finished_deliveries']) await client.query(emptySql(table), [batch])
    })
  }
  return ids.length
}

/** In one snapshot, in which each delivery is in one of the two tables. */
async function affectedBy(client: PoolClient, keyIds: readonly string[]): Promise<readonly string[]> {
  await client.query(
    `set local enable_seqscan = on; set local enable_bitmapscan = on; set local statement_timeout = ${findTimeoutMs}`,
  )
  const { rows } = await client.query<{ id: string }>(
    `select id from webhooks.deliveries where key_ids && $1::uuid[]
    union all select id from webhooks.finished_deliveries where key_ids && $1::uuid[] order by id`,
    [keyIds],
  )
  return rows.map(({ id }) => id)
}

const emptySql = (table: string) => `
update webhooks.${table} set body = null, key_ids = '{}', attempts_made = (
  select coalesce(jsonb_agg(jsonb_set(made, '{4}', 'null') order by attempt), '[]')
  from jsonb_array_elements(attempts_made) with ordinality as m (made, attempt)
)
where id = any ($1::uuid[])`
