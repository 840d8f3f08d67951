// The secret of the keyed hashes that names and e-mails are looked up by. Opening it proves that the master key is right.
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { foldEmail } from '@paylog/domain/actor'
import type { Pool } from 'pg'
import { MasterKeyError, type MasterKeys, unwrap, type WrappedSecret, wrap } from './masterKeys.ts'

export type LookupHash = (text: string) => Buffer

/**
 * Opens the lookup secret, which is made when there are no keys yet.
 * @returns HMAC-SHA-256 under this secret
 * @throws MasterKeyError when the master key is not the one of this database, or lacks one that is still in use; errors of Postgres
 */
export async function openLookupHash(pool: Pick<Pool, 'query'>, masterKeys: MasterKeys): Promise<LookupHash> {
  const stored = (await read(pool)) ?? (await make(pool, masterKeys))
  const secret = unwrap(masterKeys, stored)
  await requireMasters(pool, masterKeys)
  return (text) => createHmac('sha256', secret).update(text).digest()
}

/** Its hash is stored in `privacy.emails`. */
export const emailName = (email: string) => `email:${foldEmail(email)}`

async function read(pool: Pick<Pool, 'query'>): Promise<WrappedSecret | undefined> {
  const { rows } = await pool.query<WrappedSecret>('select id, wrapped, master from privacy.lookup_secret')
  return rows[0]
}

async function make(pool: Pick<Pool, 'query'>, masterKeys: MasterKeys): Promise<WrappedSecret> {
  const { id, wrapped, master } = wrap(masterKeys, randomUUID(), randomBytes(32))
  // Another process may make it at the same time. Both then use the row that was first.
  await pool.query(
    `insert into privacy.lookup_secret (id, wrapped, master)
     select $1, $2, $3 where not exists (select from privacy.keys) on conflict do nothing`,
    [id, wrapped, master],
  )
  const stored = await read(pool)
  if (stored === undefined)
    throw new MasterKeyError(
      'The row of privacy.lookup_secret is missing although there are keys: restore it from a backup',
    )
  return stored
}

/** A master key may have been removed from the list before a rotation was complete. Reads one row for each key in use. */
async function requireMasters(pool: Pick<Pool, 'query'>, masterKeys: MasterKeys): Promise<void> {
  const { rows } = await pool.query<{ master: string }>(
    `with recursive used (master) as (
       select min(master) from privacy.keys where master is not null
       union all
       select (select min(keys.master) from privacy.keys where keys.master > used.master)
       from used where used.master is not null
     ) select master from used where master is not null`,
  )
  const missing = rows.find(({ master }) => masterKeys.every(({ id }) => id !== master))
  if (missing !== undefined)
    throw new MasterKeyError(
      `PII_MASTER_KEY lacks master key ${missing.master}, which some keys of personal data need: add it, or rotate first`,
    )
}
