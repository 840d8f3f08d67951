// The bounded queue of proposals that wait for the writer, which takes them in groups.
import type { Outcome, Proposal } from './proposal.ts'

const maxGroupProposals = 512
const maxGroupBytes = 8 << 20
const maxWaitingBytes = 64 << 20
const maxWaitingProposals = 20_000

/** The log cannot be written now; the outcome of this proposal may be unknown. */
export class WriterUnavailableError extends Error {
  override readonly name = 'WriterUnavailableError'
}

export type Submission = {
  readonly proposal: Proposal
  readonly bytes: number
  /** A proposal whose group is formed after this is not written. */
  readonly deadlineMs: number
  /** Whether the caller has disconnected; the proposal is then neither written nor replied to. */
  readonly isCancelled: () => boolean
}

export type Waiting = Submission & {
  readonly resolve: (outcome: Outcome) => void
  readonly reject: (error: Error) => void
}

export type Intake = {
  add(waiting: Waiting): void
  readonly isEmpty: boolean
  /** The next group in order of arrival, without expired and cancelled proposals. */
  takeGroup(): Waiting[]
  rejectAll(): void
  readonly congested: boolean
  uncongested(): Promise<void>
}

export function createIntake(): Intake {
  const listeners = new Set<() => void>()
  let waiting: Waiting[] = []
  let bytes = 0

  const congested = () => bytes > maxWaitingBytes || waiting.length > maxWaitingProposals
  const take = (count: number): Waiting[] => {
    const taken = waiting.slice(0, count)
    waiting = waiting.slice(count)
    for (const each of taken) bytes -= each.bytes
    if (!congested()) {
      for (const listener of listeners) listener()
      listeners.clear()
    }
    return taken
  }

  return {
    add(each) {
      waiting.push(each)
      bytes += each.bytes
    },
    get isEmpty() {
      return waiting.length === 0
    },
    takeGroup: () => take(groupSize(waiting)).filter(stillWanted),
    rejectAll: () => rejectEach(take(waiting.length)),
    get congested() {
      return congested()
    },
    uncongested: () => (congested() ? new Promise((resolve) => listeners.add(resolve)) : Promise.resolve()),
  }
}

export function rejectEach(group: readonly Waiting[]): void {
  for (const each of group) each.reject(new WriterUnavailableError('The log cannot be written now'))
}

function groupSize(waiting: readonly Waiting[]): number {
  let bytes = 0
  let count = 0
  for (const each of waiting) {
    bytes += each.bytes
    if (count === maxGroupProposals || (count > 0 && bytes > maxGroupBytes)) break
    count += 1
  }
  return count
}

function stillWanted(waiting: Waiting): boolean {
  if (waiting.isCancelled()) {
    waiting.reject(new WriterUnavailableError('The caller has disconnected'))
    return false
  }
  if (waiting.deadlineMs <= Date.now()) {
    waiting.resolve({ kind: 'timeout' })
    return false
  }
  return true
}
