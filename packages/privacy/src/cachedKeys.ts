// Returns keys from memory, or from Postgres in as few statements as possible.
import { createSecretKey, type KeyObject } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import type { DataKey } from '@paylog/event-store/codec/dataKeys'
import { batched } from '@paylog/runtime/postgres/batched'
import type { Pool } from 'pg'
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
  const isDestroyed = (id: string) => cache.known(id) === null
  const provide = batched({
    async run(sightings: readonly Sighting[]) {
      const rows = await provideKeys(pool, { hash, masterKeys }, sightings, isDestroyed)
      return sightings.map(({ name }) => rows.get(name))
    },
    maxBatch: maxNamesInStatement,
    slowAfterMs: waitMs,
  })
  const read = batched({
    async run(ids: readonly string[]) {
      const rows = new Map((await readKeys(pool, ids)).map((row) => [row.id, row]))
      return ids.map((id) => rows.get(id))
    },
    maxBatch: maxIdsInStatement,
    slowAfterMs: waitMs,
  })

  async function keysOf(sightings: readonly Sighting[]): Promise<readonly DataKey[]> {
    if (!isReady()) await orUnavailable(prepare())
    const cached = sightings.map(({ name, email }) =>
      email === undefined || cache.wasSeen(name, email) ? cache.named(name) : undefined,
    )
    if (!cached.includes(undefined)) return cached.filter((key) => key !== undefined)
    const rows = await orUnavailable(
      Promise.all(sightings.map((sighting, index) => (cached[index] === undefined ? provide(sighting) : undefined))),
    )
    return sightings.map(({ name, email }, index) => {
      const key = cached[index] ?? add(name, rows[index])
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
    const rows = await orUnavailable(Promise.all(missing.map((id) => (uuid.test(id) ? read(id) : undefined))))
    for (const [index, id] of missing.entries()) {
      const row = rows[index]
      cache.add(id, row === undefined ? null : open(row))
    }
  }

  return { keysOf, load }
}

/** Waits for at most 5 s. @throws DomainError `service_unavailable` */
export async function orUnavailable<Value>(work: Promise<Value>): Promise<Value> {
  const { promise: overdue, reject } = Promise.withResolvers<never>()
  const timeout = setTimeout(() => reject(new Error(`no response within ${waitMs} ms`)), waitMs)
  try {
    return await Promise.race([work, overdue])
  } catch (error) {
    throw unavailable(error)
  } finally {
    clearTimeout(timeout)
  }
}

export const unavailable = (cause: unknown) =>
  new DomainError('service_unavailable', 'The keys of personal data are not available at the moment', undefined, {
    cause,
  })
