// Returns keys from memory, or from Postgres in as few statements as possible.
import { createSecretKey, type KeyObject } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import type { DataKey } from '@paylog/event-store/codec/dataKeys'
import type { Pool } from 'pg'
import { createBatches } from './batches.ts'
import type { KeyCache } from './keyCache.ts'
import { provideKeys, readKeys, type Sighting } from './keyRows.ts'
import type { LookupHash } from './lookupSecret.ts'
import { type MasterKeys, unwrap, type WrappedSecret } from './masterKeys.ts'

/** How long a command waits for Postgres. */
export const waitMs = 5_000
const maxNamesInStatement = 500
const maxIdsInStatement = 5_000

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** @param options `isReady`: the cached keys are recent enough to seal with; `prepare` makes them so */
export function createCachedKeys({
  pool,
  masterKeys,
  hash,
  cache,
  isReady,
  prepare,
}: {
  readonly pool: Pool
  readonly masterKeys: MasterKeys
  readonly hash: LookupHash
  readonly cache: KeyCache
  readonly isReady: () => boolean
  readonly prepare: () => Promise<void>
}) {
  const provide = createBatches(
    (sightings: readonly Sighting[]) =>
      provideKeys(pool, { hash, masterKeys }, sightings, (id) => cache.known(id) === null),
    { maxItems: maxNamesInStatement, waitMs },
  )
  const read = createBatches(async (ids: readonly string[]) => await readKeys(pool, [...new Set(ids)]), {
    maxItems: maxIdsInStatement,
    waitMs,
  })

  async function keysOf(sightings: readonly Sighting[]): Promise<readonly DataKey[]> {
    if (!isReady()) await orUnavailable(prepare())
    const cached = sightings.map(({ name, email }) =>
      email === undefined || cache.wasSeen(name, email) ? cache.named(name) : undefined,
    )
    const missing = sightings.filter((_, index) => cached[index] === undefined)
    if (missing.length === 0) return cached.filter((key) => key !== undefined)
    const rows = await orUnavailable(provide(missing))
    return sightings.map(({ name, email }, index) => {
      const key = cached[index] ?? add(name, rows.get(name))
      if (email !== undefined) cache.addSeen(name, email, key.id)
      return key
    })
  }

  function add(name: string, row: WrappedSecret | undefined): DataKey {
    if (row === undefined) throw new Error('a name has no key')
    const key = open(row)
    cache.add(row.id, key, name)
    return { id: row.id, key }
  }

  /** A key that this process cannot open is unavailable: another process may have a newer master key. */
  function open(row: WrappedSecret): KeyObject {
    try {
      return createSecretKey(unwrap(masterKeys, row))
    } catch (error) {
      throw unavailable(error)
    }
  }

  async function load(ids: readonly string[]): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => cache.known(id) === undefined)
    if (missing.length === 0) return
    const valid = missing.filter((id) => uuid.test(id))
    const rows = valid.length === 0 ? [] : await orUnavailable(read(valid))
    const byId = new Map(rows.map((row) => [row.id, row]))
    for (const id of missing) if (!byId.has(id)) cache.add(id, null)
    for (const row of missing.flatMap((id) => byId.get(id) ?? [])) cache.add(row.id, open(row))
  }

  return { keysOf, load }
}

const orUnavailable = <Value>(work: Promise<Value>): Promise<Value> =>
  work.catch((error: unknown) => {
    throw unavailable(error)
  })

export const unavailable = (cause: unknown) =>
  new DomainError('service_unavailable', 'The keys of personal data are not available at the moment', undefined, {
    cause,
  })
