// The writer by itself, on its own log.
import { randomUUID } from 'node:crypto'
import { migrate } from '@paylog/runtime/postgres/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import type { Test } from 'tap'
import { createWriter } from '../append/writer.ts'
import { lockWriter, type WriterSession } from '../storage/writerSession.ts'
import { createTail } from '../subscriptions/tail.ts'

const log = createLog({ app: 'embedded-event-store', level: 'silent' })
const timeoutMs = 10_000

/** Does not stop with the test. `fail` is called after an unrecoverable error. */
export async function startWriter(
  t: Test,
  options: { readonly fail?: (error: unknown) => void; readonly databaseUrl?: string } = {},
) {
  const fail = options.fail ?? ((error: unknown) => t.fail('the writer gave up', { error }))
  const databaseUrl = options.databaseUrl ?? (await createTestDatabase(t)).databaseUrl
  const pool = createPool({ databaseUrl, applicationName: 'writer test', max: 1, log })
  await migrate(pool, { schema: 'event_store', directory: new URL('../migrations/', import.meta.url) })
  await pool.end()
  const { signal } = new AbortController()
  const open = async (ownEpoch: bigint | undefined): Promise<WriterSession> =>
    (await lockWriter({ databaseUrl, timeoutMs, ownEpoch, signal, log })).beWriter()
  const session = await open(undefined)
  const tail = createTail(session.lastPosition)
  let reopened = 0
  const writer = createWriter({
    session,
    openSession: (lost) => {
      reopened += 1
      return open(lost.epoch)
    },
    tail,
    log,
    fail,
  })
  let outages = 0
  writer.onOutage(() => {
    outages += 1
  })
  const append = (stream: string, expected: bigint, eventId: string = randomUUID()) => {
    const event = { eventId, type: 'T', isJson: false, metadata: Buffer.alloc(0), data: Buffer.alloc(0) }
    return writer.submit({
      proposal: { kind: 'append', stream, expected, events: [event] },
      bytes: 0,
      deadlineMs: Number.POSITIVE_INFINITY,
      isCancelled: () => false,
    })
  }
  return { databaseUrl, db: session.db, writer, tail, append, reopened: () => reopened, outages: () => outages }
}
