// Wraps all keys with another master key.
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import type { Pool, PoolClient } from 'pg'
import { type MasterKey, type MasterKeys, unwrap, type WrappedSecret, wrap } from './masterKeys.ts'

const batchSize = 1_000

export type Rotation = { readonly rewrapped: number; readonly isComplete: boolean }

/**
 * Wraps everything that the other master keys wrap with the first one. Each batch is a transaction, so that an interrupted
 * rotation goes on where it ended. Other processes go on working, if they have all of these master keys.
 * @param pool of the owner of the tables
 * @param options `onProgress` gets the number of rows after each batch
 * @throws MasterKeyError when a row is damaged
 */
export async function rotateKeys(
  pool: Pool,
  masterKeys: MasterKeys,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress?: (rewrapped: number) => void },
): Promise<Rotation> {
  const [, ...others] = masterKeys
  let rewrapped = 0
  for (const table of ['lookup_secret', 'keys'] as const) {
    for (const from of others) {
      for (;;) {
        if (signal.aborted) return { rewrapped, isComplete: false }
        const count = await inTransaction(pool, (client) => rewrapBatch(client, masterKeys, { table, from }))
        if (count === 0) break
        rewrapped += count
        onProgress?.(rewrapped)
      }
    }
  }
  return { rewrapped, isComplete: true }
}

/** The number of rows that are wrapped by another master key than the first. */
export async function countOutdated(pool: Pick<Pool, 'query'>, [first]: MasterKeys): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select ((select count(*) from privacy.keys where master <> $1)
       + (select count(*) from privacy.lookup_secret where master <> $1))::int as count`,
    [first.id],
  )
  return rows[0]?.count ?? 0
}

type Source = { readonly table: 'keys' | 'lookup_secret'; readonly from: MasterKey }

/** Rows are locked, so that a key that is destroyed at the same time stays destroyed. */
async function rewrapBatch(client: PoolClient, masterKeys: MasterKeys, { table, from }: Source): Promise<number> {
  const { rows } = await client.query<WrappedSecret>(
    `select id, wrapped, master from privacy.${table} where master = $1 order by id limit ${batchSize} for no key update`,
    [from.id],
  )
  const wrapped = rows.map((row) => wrap(masterKeys, row.id, unwrap(masterKeys, row)))
  await client.query(
    `update privacy.${table} as row set wrapped = given.wrapped, master = given.master
     from unnest($1::uuid[], $2::bytea[], $3::text[]) as given (id, wrapped, master) where row.id = given.id`,
    [wrapped.map(({ id }) => id), wrapped.map((row) => row.wrapped), wrapped.map(({ master }) => master)],
  )
  return rows.length
}
