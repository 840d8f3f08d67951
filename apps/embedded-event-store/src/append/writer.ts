// The one writer. Whatever waits is decided together, committed together and answered after the commit.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StreamHead } from '../storage/streamHead.ts'
import type { WriterSession } from '../storage/writerSession.ts'
import type { Tail } from '../subscriptions/tail.ts'
import { createCommits } from './commits.ts'
import { createIntake, rejectEach, type Submission, type Waiting, WriterUnavailableError } from './intake.ts'
import type { Outcome } from './proposal.ts'
import { createWriterLink, type LinkOptions } from './writerLink.ts'

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

export function createWriter(options: LinkOptions & { readonly tail: Tail }): Writer {
  const commits = createCommits(options.tail, options.session.lastPosition)
  const intake = createIntake()
  const outageListeners = new Set<() => void>()
  let running: Promise<void> | undefined
  let refusing = false

  const link = createWriterLink(options, {
    opened: (session) => commits.resume(session.lastPosition),
    lost() {
      commits.forget()
      intake.rejectAll()
      for (const listener of [...outageListeners]) listener()
    },
  })

  const writeGroup = async (session: WriterSession, group: readonly Waiting[]): Promise<void> => {
    const proposals = group.map((each) => each.proposal)
    const outcomes = await commits.commit(session, proposals)
    for (const [index, each] of group.entries()) {
      const outcome = outcomes[index]
      if (outcome === undefined) each.reject(new WriterUnavailableError('The append was not decided'))
      else each.resolve(outcome)
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
        await writeGroup(session, group).catch(async (error: unknown) => {
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
    knownHead: commits.knownHead,
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
