// The keys of personal data: kept in Postgres, wrapped by the master key, cached in memory.
import { foldEmail, guestOwner, userOwner } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import type { DataKeys } from '@paylog/event-store/codec/dataKeys'
import { isDatabaseUnavailable } from '@paylog/runtime/postgres/databaseErrors'
import { listen } from '@paylog/runtime/postgres/listen'
import { createPool } from '@paylog/runtime/postgres/pool'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { createCachedKeys, orUnavailable, unavailable, waitMs } from './cachedKeys.ts'
import { destroyedKeysChannel, destroyKeys } from './destroyKeys.ts'
import { createKeyCache } from './keyCache.ts'
import { findKeys, findNamedKeys } from './keyRows.ts'
import { type LookupHash, openLookupHash } from './lookupSecret.ts'
import type { MasterKeys } from './masterKeys.ts'
import { createSweeper } from './sweeper.ts'

export type PersonalDataKeys = DataKeys & {
  /**
   * Checks the master key, and begins to listen for destroyed keys. When it fails because Postgres is unavailable, the check is
   * repeated before the next key is returned.
   * @throws MasterKeyError when the master key is not the one of this database, or lost; errors of Postgres
   */
  start(): Promise<void>
  close(): Promise<void>
  /** The connections of the keys, for rare and short statements of a process that has no others. */
  readonly db: Queryable
  /** For a health check. @throws when Postgres is unavailable, or the master key is wrong */
  check(): Promise<void>
  /**
   * The ids of the present keys of a subject. By e-mail: those of the guest and of every user that was seen with it.
   * @throws errors of Postgres
   */
  find(subject: Subject): Promise<readonly string[]>
  /** The ids of the present keys with these names, as `named`, but makes none. @throws errors of Postgres */
  present(names: readonly string[]): Promise<readonly string[]>
  /**
   * Destroys keys, as `destroyKeys`, and forgets them here before it resolves: what is decoded afterwards is without them.
   * @throws errors of Postgres
   */
  destroy(ids: readonly string[]): Promise<void>
}

export type Subject = { readonly user: string } | { readonly email: string } | { readonly payment: string }

/** A statement each for names and for ids, one for a check or a search. */
const maxConnections = 3
/** About 10 MB. More than the distinct subjects of several batches of events. */
const maxCached = 20_000

const defaultTiming = {
  /** How often destroyed keys are looked for, because a notification may have been lost. */
  sweepMs: 10_000,
  /** Nothing is sealed with keys that were compared with Postgres longer ago. */
  maxAgeMs: 30_000,
}
/**
 * @param options `replayed`: nothing is opened or sealed before it resolves, and calls fail with `service_unavailable`; `timing` for
 * tests
 */
export function createDataKeys({
  databaseUrl,
  masterKeys,
  replayed = Promise.resolve(),
  log,
  timing: { sweepMs, maxAgeMs } = defaultTiming,
}: {
  readonly databaseUrl: string
  readonly masterKeys: MasterKeys
  /** After a restore of an older backup, erased keys exist until the erasures in the log have been applied. */
  readonly replayed?: Promise<void>
  readonly log: Logger
  readonly timing?: typeof defaultTiming
}): PersonalDataKeys {
  const pool = createPool({
    databaseUrl,
    applicationName: 'personal data keys',
    max: maxConnections,
    queryTimeoutMs: waitMs,
    // A key must not be lost in a crash of the server after an event was sealed with it.
    settings: { synchronous_commit: 'on' },
    log,
  })
  const cache = createKeyCache(maxCached)
  const sweeper = createSweeper(pool, cache, maxAgeMs)
  const stopping = new AbortController()
  const { signal } = stopping
  const background: Promise<void>[] = []
  let opened: LookupHash | undefined
  const hash: LookupHash = (text) => {
    if (opened === undefined) throw unavailable(new Error('The master key has not been checked'))
    return opened(text)
  }
  const open = async () => {
    opened ??= await openLookupHash(pool, masterKeys)
    return opened
  }
  let isReplayed = false
  void replayed.then(() => {
    isReplayed = true
  })
  const afterReplay = async () => {
    if (!isReplayed) await orUnavailable(replayed)
  }
  const isReady = () => isReplayed && opened !== undefined && sweeper.isRecent()
  const prepare = async () => {
    await replayed
    await open()
    if (!sweeper.isRecent()) await sweeper.sweep()
  }
  const { keysOf, load } = createCachedKeys({ pool, masterKeys, hash, cache, isReady, prepare })

  return {
    async start() {
      const onNotification = (ids: string) => {
        for (const id of ids.split(',')) cache.destroyed(id)
      }
      const work = () => {
        background.push(listen({ databaseUrl, channel: destroyedKeysChannel, onNotification, signal, log }))
        background.push(sweeper.run({ everyMs: sweepMs, signal, log }))
      }
      await open().catch((error: unknown) => {
        // Otherwise the start ends with this error, and it is not reported by each work too.
        if (isDatabaseUnavailable(error)) work()
        throw error
      })
      work()
    },
    async close() {
      stopping.abort()
      await Promise.all(background)
      await pool.end()
    },
    async check() {
      if (!isReplayed) throw notReplayed()
      await open()
      await pool.query('select from privacy.lookup_secret')
    },
    db: pool,
    hash,
    named: (names) => keysOf(names.map((name) => ({ name, email: undefined }))),
    async seen(name, email) {
      await keysOf([{ name, email: foldEmail(email) }])
    },
    async find(subject) {
      await afterReplay()
      return await findKeys(pool, await open(), nameOf(subject))
    },
    async present(names) {
      await afterReplay()
      return await findNamedKeys(pool, await open(), names)
    },
    async destroy(ids) {
      await destroyKeys(pool, ids)
      for (const id of ids) cache.destroyed(id)
    },
    async load(ids) {
      await afterReplay()
      await load(ids)
    },
    known: (id) => cache.known(id),
  }
}

const notReplayed = () =>
  new DomainError(
    'service_unavailable',
    'Personal data is not available: the erasures in the log have not been read yet',
  )

function nameOf(subject: Subject): { readonly name: string; readonly email?: string } {
  if ('user' in subject) return { name: userOwner(subject.user) }
  if ('payment' in subject) return { name: `payment:${subject.payment}` }
  return { name: guestOwner(subject.email), email: subject.email }
}
