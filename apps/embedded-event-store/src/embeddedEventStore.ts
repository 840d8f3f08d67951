// Assembles storage, writer and gRPC server.

import { migrate } from '@paylog/runtime/postgres/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import { requireOwnSessions } from '@paylog/runtime/postgres/session'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { createWriter } from './append/writer.ts'
import { createLog } from './read/log.ts'
import { startServer } from './server.ts'
import { lockWriter, type WriterSession } from './storage/writerSession.ts'
import { createTail } from './subscriptions/tail.ts'

/** EventStoreDB's default. */
export const defaultMaxAppendBytes = 1 << 20
const maxReaders = 8
/** Postgres soon releases the lock of a killed server on the same machine. */
const startTimeoutMs = 3_000
/** After an outage, our own lost session may hold the lock until Postgres ends it. */
const recoveryTimeoutMs = 30_000

export type EmbeddedEventStore = {
  readonly port: number
  stop(): Promise<void>
  inFlight(): readonly string[]
}

/**
 * Becomes the writer of the log in the schema `event_store`, which is created if missing, and serves it.
 * @param options port 0 selects a free one; `maxAppendBytes` is EventStoreDB's MaxAppendSize; `credentials` are
 *   `user:password`, and without any every call is admitted; `fail` is called after an unrecoverable error
 * @throws WriterLockedError when another server runs on this database; the database's or the port's error
 */
export async function startEmbeddedEventStore(options: {
  readonly host: string
  readonly port: number
  readonly databaseUrl: string
  readonly maxAppendBytes?: number
  readonly credentials?: readonly string[]
  readonly log: Logger
  readonly fail: (error: unknown) => void
}): Promise<EmbeddedEventStore> {
  const { databaseUrl, maxAppendBytes = defaultMaxAppendBytes, credentials = [], log } = options
  const stopping = new AbortController()
  const pool = createPool({ databaseUrl, applicationName: 'embedded-event-store', max: maxReaders, log })
  const openSession = async (timeoutMs: number, ownEpoch?: bigint): Promise<WriterSession> => {
    const locked = await lockWriter({ databaseUrl, timeoutMs, ownEpoch, signal: stopping.signal, log })
    try {
      // Under the lock, so that a second server changes nothing before it is rejected.
      await migrate(pool, { schema: 'event_store', directory: new URL('./migrations/', import.meta.url) })
      return await locked.beWriter()
    } catch (error) {
      await locked.close()
      throw error
    }
  }
  try {
    // Before the lock, which a pooler in transaction mode loses.
    await requireOwnSessions(pool)
    const session = await openSession(startTimeoutMs)
    const tail = createTail(session.lastPosition)
    const writer = createWriter({
      session,
      openSession: (lost) => openSession(recoveryTimeoutMs, lost.epoch),
      tail,
      log,
      fail: options.fail,
    })
    const events = createLog({ db: pool, knownHead: writer.knownHead })
    const server = await startServer({ ...options, maxAppendBytes, credentials, writer, events, tail }).catch(
      async (error) => {
        await writer.stop()
        throw error
      },
    )
    log.info({ port: server.port, position: String(session.lastPosition) }, 'serving the log')
    return {
      port: server.port,
      inFlight: () => (writer.isBusy ? ['appends'] : []),
      async stop() {
        stopping.abort()
        // Finishes waiting appends first, then fails open calls.
        await writer.stop()
        await server.stop()
        await pool.end()
      },
    }
  } catch (error) {
    await pool.end()
    throw error
  }
}
