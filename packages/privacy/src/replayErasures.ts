// Destroys the keys that erasures in the log name and that exist all the same: an erasure was interrupted, or an older backup of
// the keys was restored.

import type { LogCheckpoint } from '@paylog/domain/events'
import { closedKeys } from '@paylog/event-store/codec/dataKeys'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import { anySignal } from '@paylog/runtime/anySignal'
import { createPool } from '@paylog/runtime/postgres/pool'
import { keepRunning } from '@paylog/runtime/process/keepRunning'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import { destroyKeys, presentKeys } from './destroyKeys.ts'

const prefixes = ['erasure-']
/** An erasure may name thousands of keys. */
const maxBatch = 100

const insufficientPrivilege = '42501'

/** Another process, with the login of the owner of the tables, has to destroy keys first. */
class KeysPresentError extends Error {
  override readonly name = 'KeysPresentError'
}

/**
 * Applies the erasures after the remembered position again, and remembers where the log ends. Processes may do it at once.
 * @param pool of a login that may only read succeeds when there is nothing to destroy
 * @returns the ids of the keys that still existed
 * @throws KeysPresentError, UnreadableEventError, DomainError `event_store_unavailable`; errors of Postgres
 */
export async function replayErasures(pool: Pool, store: EventStore): Promise<readonly string[]> {
  const progress = await readProgress(pool)
  // Another log was put in the place of this one, so nothing is known of its erasures.
  const from = progress !== undefined && (await store.has(progress)) ? progress : undefined
  const destroyed: string[] = []
  let reached = from
  for await (const { events, position } of store.readBatches({ prefixes, from, maxBatch })) {
    const named = events.flatMap((event) =>
      event.type === 'SubjectErased' || event.type === 'RetentionApplied' ? event.data.key_ids : [],
    )
    const present = named.length === 0 ? [] : await presentKeys(pool, named)
    if (present.length > 0) destroyed.push(...(await destroyKeys(pool, present).catch(explain)))
    reached = position
  }
  if (reached !== undefined && reached !== from && (await mayWriteProgress(pool)))
    await writeProgress(pool, reached, from)
  return destroyed
}

function explain(error: unknown): never {
  if (!(error instanceof Error && 'code' in error && error.code === insufficientPrivilege)) throw error
  throw new KeysPresentError(
    'Erased keys exist, and this login may not destroy them: waiting for the projector, the worker or `ops privacy replay`',
    { cause: error },
  )
}

/**
 * Opens the log and the database for `replayErasures`. It needs no keys, because erasures have no sealed fields.
 * @param options `signal` makes it fail, as an unavailable log does
 */
export async function replayErasuresOf(
  {
    DATABASE_URL: databaseUrl,
    EVENTSTORE_URL: connectionString,
  }: { readonly DATABASE_URL: string; readonly EVENTSTORE_URL: string },
  { log, signal }: { readonly log: Logger; readonly signal?: AbortSignal },
): Promise<readonly string[]> {
  const pool = createPool({ databaseUrl, applicationName: 'replay of erasures', max: 1, log })
  const store = createEventStore({ connectionString, keys: closedKeys })
  const stop = () => void store.close()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    return await replayErasures(pool, store)
  } finally {
    signal?.removeEventListener('abort', stop)
    await store.close()
    await pool.end()
  }
}

const pauseMs = 1_000

/**
 * Applies the erasures, again and again until it succeeds or the signal aborts.
 * @param replay as `replayErasuresOf`
 * @returns whether it succeeded
 */
export async function replayUntilDone(
  replay: () => Promise<readonly string[]>,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<boolean> {
  const done = new AbortController()
  const run = async () => {
    const destroyed = await replay()
    if (destroyed.length > 0) log.warn({ keys: destroyed.length }, 'erased keys existed, and were destroyed again')
    done.abort()
  }
  await keepRunning(run, {
    signal: anySignal(signal, done.signal),
    pauseMs,
    onError: (error) =>
      log.warn({ err: error }, 'personal data is not served: the erasures in the log cannot be read, trying again'),
  })
  return done.signal.aborted
}

type Row = { readonly commit_position: string; readonly prepare_position: string; readonly event_id: string }

async function readProgress(pool: Pick<Pool, 'query'>): Promise<LogCheckpoint | undefined> {
  const { rows } = await pool.query<Row>(
    'select commit_position::text, prepare_position::text, event_id from privacy.progress',
  )
  const [row] = rows
  return row && { commit: BigInt(row.commit_position), prepare: BigInt(row.prepare_position), eventId: row.event_id }
}

/** The login of an API may only read. */
async function mayWriteProgress(pool: Pick<Pool, 'query'>): Promise<boolean> {
  const { rows } = await pool.query<{ may: boolean }>(`select has_table_privilege('privacy.progress', 'update') as may`)
  return rows[0]?.may === true
}

/** Never goes back, unless it is at an event that is not in this log. */
async function writeProgress(
  pool: Pick<Pool, 'query'>,
  { commit, prepare, eventId }: LogCheckpoint,
  from: LogCheckpoint | undefined,
): Promise<void> {
  await pool.query(
    `insert into privacy.progress as present (commit_position, prepare_position, event_id) values ($1, $2, $3)
     on conflict (is_only) do update
     set commit_position = $1, prepare_position = $2, event_id = $3
     where present.commit_position < $1 or $4::uuid is null`,
    [commit.toString(), prepare.toString(), eventId, from?.eventId ?? null],
  )
}
