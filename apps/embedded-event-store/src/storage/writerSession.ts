// The only connection that may write. It holds the writer lock, so losing the connection and losing the lock are one event;
// every commit also checks the writer's epoch.
import { setTimeout as sleep } from 'node:timers/promises'
import { connectSession, createSessionClient } from '@paylog/runtime/postgres/session'
import type { Logger } from '@paylog/runtime/telemetry/log'
import pg from 'pg'
import { bigintArray, boolArray, byteaArray, textArray, uuidArray } from './binaryArray.ts'
import type { Queryable } from './logReader.ts'
import type { StoredEvent } from './storedEvent.ts'

const connectTimeoutMs = 5_000
const statementTimeoutMs = 10_000
/** Longer than the statement timeout, because after a client-side timeout the outcome is unknown. */
const responseTimeoutMs = statementTimeoutMs + 5_000
const lockRetryMs = 100

/** Another process holds the writer lock. */
export class WriterLockedError extends Error {
  override readonly name = 'WriterLockedError'
}

const replaced = 'Another embedded-event-store has become the writer'

/** Another process has become the writer, so this one must not write. */
export class WriterReplacedError extends Error {
  override readonly name = 'WriterReplacedError'
}

export type WriterSession = {
  readonly db: Queryable
  /** Increases with every writer. */
  readonly epoch: bigint
  /** The last position that any commit of this log has used. */
  readonly lastPosition: bigint
  /** Aborts when the connection is lost. */
  readonly lost: AbortSignal
  /**
   * Writes events and the last position in one statement, which is one durable transaction.
   * @param commit `absent`: streams that were assumed empty when the events were decided
   * @returns false, with nothing written, when one of these streams is not empty
   * @throws WriterReplacedError (nothing was written), or another error (the outcome is unknown)
   */
  commit(commit: Commit): Promise<boolean>
  close(): Promise<void>
}

export type Commit = {
  readonly events: readonly StoredEvent[]
  readonly lastPosition: bigint
  readonly absent: readonly string[]
}

const insertEvents = `with fence as (
    update event_store.writer set last_position = $2 where epoch = $1 and not exists (
      select from unnest($12::text[]) absent(stream)
      cross join lateral (select from event_store.events where stream = absent.stream limit 1) found
    )
    returning epoch
  ), inserted as (
    insert into event_store.events
      (position, stream, revision, event_id, type, is_json, created_ticks, metadata, data)
    select proposed.* from fence, unnest($3::bigint[], $4::text[], $5::bigint[], $6::uuid[], $7::text[], $8::boolean[],
      $9::bigint[], $10::bytea[], $11::bytea[]) proposed
  )
  select (select count(*) from fence), (select count(*) from event_store.writer where epoch = $1)`

const columnTypes = new pg.TypeOverrides()
columnTypes.setTypeParser(pg.types.builtins.INT8, BigInt)

/** A connection that holds the writer lock; `beWriter` turns it into a session once the schema exists. */
export type LockedConnection = { beWriter(): Promise<WriterSession>; close(): Promise<void> }

/**
 * Connects and takes the writer lock, with retries: Postgres may take a moment to release a killed predecessor's lock.
 * @param options `ownEpoch`: the epoch of our lost session, if any
 * @throws WriterLockedError when another process holds the lock, WriterReplacedError when that is a later writer, or
 *   the connection's error
 */
export async function lockWriter(options: {
  readonly databaseUrl: string
  readonly timeoutMs: number
  readonly ownEpoch: bigint | undefined
  readonly signal: AbortSignal
  readonly log: Logger
}): Promise<LockedConnection> {
  const client = createSessionClient({
    databaseUrl: options.databaseUrl,
    application_name: 'embedded-event-store writer',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: responseTimeoutMs,
    keepAlive: true,
    types: columnTypes,
  })
  const lost = new AbortController()
  client.on('error', (error) => {
    options.log.warn({ err: error }, 'the writer lost its database connection')
    lost.abort(error)
  })
  client.on('end', () => lost.abort(new Error('The database connection ended')))
  const close = async () => {
    await client.end().catch((error: unknown) => options.log.debug({ err: error }, 'closing the writer connection'))
  }
  try {
    // Prepared plans outlive a short log, so none may scan the whole table.
    const settings = { statement_timeout: statementTimeoutMs, synchronous_commit: 'on', enable_seqscan: 'off' }
    await connectSession(client, settings)
    await warnWithoutDurability(client, options.log)
    await takeLock(client, options)
  } catch (error) {
    await close()
    throw error
  }
  return { beWriter: () => becomeWriter(client, lost.signal, close), close }
}

async function warnWithoutDurability(client: pg.Client, log: Logger): Promise<void> {
  const { rows } = await client.query<{ fsync: string }>('show fsync')
  if (rows[0]?.fsync !== 'on') {
    log.warn('Postgres runs with fsync off: acknowledged events may be lost when the machine crashes')
  }
}

type LockOptions = {
  readonly timeoutMs: number
  readonly ownEpoch: bigint | undefined
  readonly signal: AbortSignal
}

async function takeLock(client: pg.Client, { timeoutMs, ownEpoch, signal }: LockOptions): Promise<void> {
  const until = performance.now() + timeoutMs
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>(
      `select pg_try_advisory_lock(hashtextextended('event_store writer', 0)) as locked`,
    )
    if (rows[0]?.locked) return
    if (ownEpoch !== undefined) await rejectReplaced(client, ownEpoch)
    if (performance.now() >= until) {
      throw new WriterLockedError('Another embedded-event-store is already running on this database')
    }
    await sleep(lockRetryMs, undefined, { signal })
  }
}

/** The lock holder is our own lost session, which Postgres will end, or a server that has taken over. */
async function rejectReplaced(client: pg.Client, ownEpoch: bigint): Promise<void> {
  const { rows } = await client.query<{ epoch: bigint }>('select epoch from event_store.writer')
  if (rows[0]?.epoch !== ownEpoch) throw new WriterReplacedError(replaced)
}

async function becomeWriter(client: pg.Client, lost: AbortSignal, close: () => Promise<void>): Promise<WriterSession> {
  // Waits for a running commit of a predecessor; its later commits fail because of the old epoch.
  const { rows } = await client.query<{ epoch: bigint; last_position: bigint }>(
    'update event_store.writer set epoch = epoch + 1 returning epoch, last_position',
  )
  const state = rows[0]
  if (state === undefined) throw new Error('The writer row is missing from the schema event_store')
  return {
    db: client,
    epoch: state.epoch,
    lastPosition: state.last_position,
    lost,
    async commit({ events, lastPosition, absent }) {
      const { rows } = await client.query<[bigint, bigint]>({
        name: 'insert_events',
        text: insertEvents,
        values: [state.epoch, lastPosition, ...columnsOf(events), textArray(absent)],
        rowMode: 'array',
      })
      const [written, isWriter] = rows[0] ?? []
      if (isWriter !== 1n) throw new WriterReplacedError(replaced)
      return written === 1n
    },
    close,
  }
}

function columnsOf(events: readonly StoredEvent[]): Buffer[] {
  return [
    bigintArray(events.map((event) => event.position)),
    textArray(events.map((event) => event.stream)),
    bigintArray(events.map((event) => event.revision)),
    uuidArray(events.map((event) => event.eventId)),
    textArray(events.map((event) => event.type)),
    boolArray(events.map((event) => event.isJson)),
    bigintArray(events.map((event) => event.createdTicks)),
    byteaArray(events.map((event) => event.metadata)),
    byteaArray(events.map((event) => event.data)),
  ]
}
