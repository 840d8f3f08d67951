// Destroys keys, which makes what they seal unreadable for ever.
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import type { Pool } from 'pg'

/** The payload of its notifications: ids, separated by commas. */
export const destroyedKeysChannel = 'destroyed_keys'

/** A payload may have 8,000 bytes. */
const idsInNotification = 200

/**
 * Destroys these keys in one transaction, and notifies the processes that have them in memory. Keys that are destroyed already
 * are left as they are, so an interrupted erasure may repeat this.
 * @param pool of the owner of the tables
 * @returns the ids of the keys that this call destroyed
 */
export async function destroyKeys(pool: Pool, ids: readonly string[]): Promise<readonly string[]> {
  // The key must not come back after a crash of the server.
  const begin = 'begin; set local synchronous_commit = on'
  return await inTransaction(
    pool,
    async (client) => {
      // Whoever adds an e-mail of these keys waits for this lock, and then finds that there is no such name.
      const { rows } = await client.query<{ id: string; name_hash: Buffer }>(
        'select id, name_hash from privacy.keys where id = any($1) and destroyed_at is null order by id for update',
        [ids],
      )
      const destroyed = rows.map(({ id }) => id)
      await client.query('delete from privacy.emails where name_hash = any($1)', [rows.map((row) => row.name_hash)])
      await client.query(
        `update privacy.keys set name_hash = null, wrapped = null, master = null, destroyed_at = now() where id = any($1)`,
        [destroyed],
      )
      for (let start = 0; start < destroyed.length; start += idsInNotification) {
        const payload = destroyed.slice(start, start + idsInNotification).join()
        await client.query('select pg_notify($1, $2)', [destroyedKeysChannel, payload])
      }
      return destroyed
    },
    begin,
  )
}

/** Which of these keys exist: after a restore of an older backup, these must be destroyed again. */
export async function presentKeys(pool: Pick<Pool, 'query'>, ids: readonly string[]): Promise<readonly string[]> {
  const { rows } = await pool.query<{ id: string }>(
    'select id from privacy.keys where id = any($1) and destroyed_at is null order by id',
    [ids],
  )
  return rows.map(({ id }) => id)
}
