// Reads and adds rows of the schema `privacy`.
import { randomBytes, randomUUIDv7 } from 'node:crypto'
import type { Pool } from 'pg'
import { bucketOf } from './buckets.ts'
import { emailName, type LookupHash } from './lookupSecret.ts'
import { type MasterKeys, type WrappedSecret, wrap } from './masterKeys.ts'

type Db = Pick<Pool, 'query'>

/** A name that needs its key, and an e-mail that it has been seen with. */
export type Sighting = { readonly name: string; readonly email: string | undefined }

type Hashes = { readonly hash: LookupHash; readonly masterKeys: MasterKeys }

const foreignKeyViolation = '23503'
/** A name is missing in a statement's result when another process added or destroyed its key while the statement ran. */
const maxAttempts = 5

/**
 * Returns the keys of all names, and adds those that are missing. When this resolves, they are committed.
 * Concurrent processes get the same key: the name is unique, and whoever is second reads the row of the first.
 * @param isDestroyed keys that must not be used, although the statement may still have seen them
 */
export async function provideKeys(
  db: Db,
  { hash, masterKeys }: Hashes,
  sightings: readonly Sighting[],
  isDestroyed: (id: string) => boolean,
): Promise<ReadonlyMap<string, WrappedSecret>> {
  const found = new Map<string, WrappedSecret>()
  let missing = sightings
  for (let attempt = 1; missing.length > 0; attempt++) {
    if (attempt > maxAttempts) throw new Error('Keys were added and destroyed while they were read')
    const names = new Map(missing.map(({ name }) => [hash(name).toString('hex'), name]))
    for (const { name_hash, ...row } of await addMissing(db, { hash, masterKeys }, missing)) {
      const name = names.get(name_hash.toString('hex'))
      if (name !== undefined && !isDestroyed(row.id)) found.set(name, row)
    }
    missing = missing.filter(({ name }) => !found.has(name))
  }
  return found
}

type KeyRow = WrappedSecret & { readonly name_hash: Buffer }

async function addMissing(db: Db, { hash, masterKeys }: Hashes, sightings: readonly Sighting[]): Promise<KeyRow[]> {
  // In the order of their hashes, because statements that insert the same rows in another order would wait for each other.
  const names = inOrder([...new Set(sightings.map(({ name }) => name))].map((name) => ({ name, key: hash(name) })))
  const fresh = names.map(({ name }) => ({ ...wrap(masterKeys, randomUUIDv7(), randomBytes(32)), ...bucketOf(name) }))
  const emails = inOrder(
    sightings.flatMap(({ name, email }) =>
      email === undefined ? [] : [{ key: hash(emailName(email)), nameHash: hash(name) }],
    ),
  )
  try {
    const { rows } = await db.query<KeyRow>(addMissingSql, [
      fresh.map(({ id }) => id),
      names.map(({ key }) => key),
      fresh.map(({ wrapped }) => wrapped),
      fresh.map(({ master }) => master),
      fresh.map(({ bucket }) => bucket),
      fresh.map(({ day }) => day),
      emails.map(({ key }) => key),
      emails.map(({ nameHash }) => nameHash),
    ])
    return rows
  } catch (error) {
    // A key was destroyed after the statement started, so its name cannot be seen with an e-mail.
    if (error instanceof Error && 'code' in error && error.code === foreignKeyViolation) return []
    throw error
  }
}

/** The rows that another process has just added are missing in the result, because the snapshot is older. */
const addMissingSql = `
  with added as (
    insert into privacy.keys (id, name_hash, wrapped, master, bucket, bucket_day)
    select * from unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::text[], $5::text[], $6::date[])
    on conflict (name_hash) do nothing
    returning id, name_hash, wrapped, master
  ), seen as (
    insert into privacy.emails (email_hash, name_hash)
    select * from unnest($7::bytea[], $8::bytea[])
    on conflict do nothing
  )
  select * from added
  union all
  select id, name_hash, wrapped, master from privacy.keys where name_hash = any($2)`

function inOrder<Item extends { readonly key: Buffer }>(items: Item[]): Item[] {
  return items.sort((a, b) => a.key.compare(b.key))
}

/** The present keys among these ids. */
export async function readKeys(db: Db, ids: readonly string[]): Promise<readonly WrappedSecret[]> {
  const { rows } = await db.query<WrappedSecret>(
    'select id, wrapped, master from privacy.keys where id = any($1) and wrapped is not null',
    [ids],
  )
  return rows
}

/** Ids of the present keys with this name, and of those that were seen with this e-mail. */
export async function findKeys(
  db: Db,
  hash: LookupHash,
  { name, email }: { readonly name: string; readonly email?: string },
): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from privacy.keys
     where name_hash = $1 or name_hash in (select name_hash from privacy.emails where email_hash = $2) order by id`,
    [hash(name), email === undefined ? null : hash(emailName(email))],
  )
  return rows.map(({ id }) => id)
}

/** Ids of the present keys with these names. */
export async function findNamedKeys(db: Db, hash: LookupHash, names: readonly string[]): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>('select id from privacy.keys where name_hash = any($1) order by id', [
    names.map(hash),
  ])
  return rows.map(({ id }) => id)
}
