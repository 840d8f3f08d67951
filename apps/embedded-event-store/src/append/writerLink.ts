// Keeps the writer's database session open.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { WriterLockedError, WriterReplacedError, type WriterSession } from '../storage/writerSession.ts'

const firstRetryMs = 100
const maxRetryMs = 2_000

export type LinkOptions = {
  readonly session: WriterSession
  /** Becomes the writer again after an outage. */
  readonly openSession: (lost: WriterSession) => Promise<WriterSession>
  readonly log: Logger
  /** Ends the process, because a replaced server cannot recover. */
  readonly fail: (error: unknown) => void
}

export type WriterLink = {
  /** The session to write with; undefined during an outage and while stopping. */
  session(): WriterSession | undefined
  lose(session: WriterSession, error: unknown): Promise<void>
  stop(): Promise<void>
}

/** Replaces a lost session, with retries, unless another server has become the writer. */
export function createWriterLink(
  { session: first, openSession, log, fail }: LinkOptions,
  on: {
    readonly opened: (session: WriterSession) => void
    readonly lost: () => void
    /** With each error that lost a session, or prevented another one. */
    readonly failed: (error: unknown) => void
  },
): WriterLink {
  let current: WriterSession | undefined
  let stopping = false

  const adopt = (session: WriterSession) => {
    current = session
    on.opened(session)
    session.lost.addEventListener('abort', () => {
      lose(session, session.lost.reason).catch(fail)
    })
  }

  const lose = async (session: WriterSession, error: unknown): Promise<void> => {
    if (current !== session) return
    current = undefined
    on.failed(error)
    on.lost()
    await session.close()
    if (error instanceof WriterReplacedError) fail(error)
    else if (!stopping) {
      log.warn({ err: error }, 'writing stopped, waiting for the database')
      reopen(session).catch(fail)
    }
  }

  const reopen = async (lost: WriterSession): Promise<void> => {
    for (let delayMs = firstRetryMs; !stopping; delayMs = Math.min(delayMs * 2, maxRetryMs)) {
      const session = await openSession(lost).catch((error: unknown) => {
        if (error instanceof WriterLockedError || error instanceof WriterReplacedError) throw error
        on.failed(error)
        log.debug({ err: error }, 'the database is still unavailable')
        return undefined
      })
      if (session !== undefined && stopping) await session.close()
      else if (session !== undefined) {
        adopt(session)
        log.info({ position: String(session.lastPosition) }, 'writing again')
        return
      }
      await sleep(delayMs)
    }
  }

  adopt(first)
  return {
    session: () => current,
    lose,
    async stop() {
      stopping = true
      await current?.close()
    },
  }
}
