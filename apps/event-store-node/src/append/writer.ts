// The one writer. Whatever waits is decided together, committed together and answered after the commit.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@paylog/runtime/log'
import { createHeadCache } from '../storage/headCache.ts'
import { ticksNow } from '../storage/storedEvent.ts'
import type { StreamHead } from '../storage/streamHead.ts'
import { WriterLockedError, WriterReplacedError, type WriterSession } from '../storage/writerSession.ts'
import type { Tail } from '../subscriptions/tail.ts'
import { createGroup } from './group.ts'
import { readGroupFacts } from './groupFacts.ts'
import { createIntake, rejectEach, type Submission, type Waiting, WriterUnavailableError } from './intake.ts'
import type { Outcome } from './proposal.ts'

const maxCachedStreams = 50_000
const firstRetryMs = 100
const maxRetryMs = 2_000

export type Writer = {
  /**
   * Resolves after the commit.
   * @throws WriterUnavailableError without a database, while stopping, or when the commit's outcome is unknown
   */
  submit(submission: Submission): Promise<Outcome>
  /** Whether so much is waiting that callers should stop reading from their clients. */
  readonly congested: boolean
  /** Resolves when the writer is no longer congested. */
  uncongested(): Promise<void>
  /** The writer's knowledge of a stream's end; undefined when it has none. Never older than any answer given. */
  knownHead(stream: string): StreamHead | undefined
  /** Called whenever the database is lost. Returns how to stop listening. */
  onOutage(listener: () => void): () => void
  /** Refuses new proposals and finishes what is waiting. */
  stop(): Promise<void>
}

type WriterOptions = {
  readonly session: WriterSession
  /** Becomes the writer again after an outage. */
  readonly openSession: () => Promise<WriterSession>
  readonly tail: Tail
  readonly log: Logger
  /** Ends the process: a node that another one has replaced can never be right again. */
  readonly fail: (error: unknown) => void
}

export function createWriter(options: WriterOptions): Writer {
  const { tail } = options
  const cache = createHeadCache(maxCachedStreams)
  const intake = createIntake()
  const outageListeners = new Set<() => void>()
  let position = options.session.lastPosition
  let running: Promise<void> | undefined
  let refusing = false

  const link = createLink(options, {
    opened(session) {
      position = session.lastPosition
      tail.resume(position)
    },
    // After any failure the outcome may be unknown: everything is forgotten, and read again by the next session.
    lost() {
      cache.clear()
      intake.rejectAll()
      for (const listener of [...outageListeners]) listener()
    },
  })

  const commitGroup = async (session: WriterSession, waiting: readonly Waiting[]): Promise<void> => {
    const proposals = waiting.map((each) => each.proposal)
    const facts = await readGroupFacts(session.db, cache, proposals)
    const group = createGroup(facts, position, ticksNow())
    const outcomes = proposals.map((proposal) => group.add(proposal))
    if (group.lastPosition > position) await session.commit(group.events, group.lastPosition)
    for (const [stream, head] of group.heads) cache.set(stream, head)
    position = group.lastPosition
    tail.publish(group.events, position)
    for (const [index, each] of waiting.entries()) {
      const outcome = outcomes[index]
      if (outcome !== undefined) each.resolve(outcome)
    }
  }

  const run = async (): Promise<void> => {
    while (!intake.isEmpty) {
      // One turn of the event loop lets everything that has already arrived join the group.
      await nextTurn()
      const session = link.session()
      const group = intake.takeGroup()
      if (session === undefined) rejectEach(group)
      else if (group.length > 0) {
        await commitGroup(session, group).catch(async (error: unknown) => {
          rejectEach(group)
          await link.lose(session, error)
        })
      }
    }
    running = undefined
  }

  return {
    submit: (submission) =>
      new Promise((resolve, reject) => {
        if (refusing || link.session() === undefined) {
          reject(new WriterUnavailableError('The log cannot be written now'))
          return
        }
        intake.add({ ...submission, resolve, reject })
        running ??= run().catch(options.fail)
      }),
    get congested() {
      return intake.congested
    },
    uncongested: intake.uncongested,
    knownHead: (stream) => cache.get(stream),
    onOutage(listener) {
      outageListeners.add(listener)
      return () => outageListeners.delete(listener)
    },
    async stop() {
      refusing = true
      await running
      await link.stop()
    },
  }
}

type Link = {
  /** The session to write with; undefined during an outage and while stopping. */
  session(): WriterSession | undefined
  lose(session: WriterSession, error: unknown): Promise<void>
  stop(): Promise<void>
}

/** Keeps a session open: replaces a lost one, as often as it takes, unless another node has become the writer. */
function createLink(
  { session: first, openSession, log, fail }: WriterOptions,
  on: { readonly opened: (session: WriterSession) => void; readonly lost: () => void },
): Link {
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
    on.lost()
    await session.close()
    if (error instanceof WriterReplacedError) fail(error)
    else if (!stopping) {
      log.warn({ err: error }, 'writing stopped, waiting for the database')
      reopen().catch(fail)
    }
  }

  const reopen = async (): Promise<void> => {
    for (let delayMs = firstRetryMs; !stopping; delayMs = Math.min(delayMs * 2, maxRetryMs)) {
      const session = await openSession().catch((error: unknown) => {
        if (error instanceof WriterLockedError) throw error
        log.debug({ err: error }, 'the database is still away')
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
