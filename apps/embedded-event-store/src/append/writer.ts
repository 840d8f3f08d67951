// The single writer. Waiting proposals are decided and committed as a group; replies follow the commit.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isOutOfSpace, saysNoSpace } from '../storage/outOfSpace.ts'
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
  /** Whether an append waits for its commit. */
  readonly isBusy: boolean
  /** Whether the queue is so long that callers should stop reading from their clients. */
  readonly congested: boolean
  /** Resolves when the writer is no longer congested. */
  uncongested(): Promise<void>
  /** The cached head of a stream, if any. Never older than any reply that has been sent. */
  knownHead(stream: string): StreamHead | undefined
  /** Adds a listener for lost database connections. Returns a function that removes it. */
  onOutage(listener: () => void): () => void
  /** Rejects new proposals and finishes the waiting ones. */
  stop(): Promise<void>
}

export function createWriter(options: LinkOptions & { readonly tail: Tail }): Writer {
  const commits = createCommits(options.tail, options.session.lastPosition)
  const intake = createIntake()
  const outageListeners = new Set<() => void>()
  let running: Promise<void> | undefined
  let isStopping = false
  /** Since the last commit. What follows a full disk is often a database that cannot be reached. */
  let isFull = false

  const link = createWriterLink(options, {
    opened: (session) => commits.resume(session.lastPosition),
    lost() {
      commits.forget()
      intake.rejectAll()
      for (const listener of [...outageListeners]) listener()
    },
    failed(error) {
      isFull ||= saysNoSpace(error)
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
    if (isFull) options.log.info('there is space for the log again')
    isFull = false
  }

  const refuse = (group: readonly Waiting[], error: unknown): void => {
    if (!isFull) options.log.warn({ err: error }, 'there is no space for the log, appends are refused')
    isFull = true
    for (const each of group) each.resolve({ kind: 'no_space' })
  }

  const run = async (): Promise<void> => {
    while (!intake.isEmpty) {
      // Lets everything that has already arrived join the group.
      await nextTurn()
      const session = link.session()
      const group = intake.takeGroup()
      if (session === undefined) rejectEach(group)
      else if (group.length > 0) {
        await writeGroup(session, group).catch(async (error: unknown) => {
          if (await isOutOfSpace(session, error)) return refuse(group, error)
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
        if (isStopping || link.session() === undefined) {
          if (isFull) resolve({ kind: 'no_space' })
          else reject(new WriterUnavailableError('The log cannot be written now'))
          return
        }
        intake.add({ ...submission, resolve, reject })
        running ??= run().catch(options.fail)
      }),
    get isBusy() {
      return running !== undefined
    },
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
      isStopping = true
      await running
      await link.stop()
    },
  }
}
