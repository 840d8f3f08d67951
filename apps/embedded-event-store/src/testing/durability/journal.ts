// Records the requests and replies of the writers of a durability test, to compare with the log.
import type { JSONEventData } from '@eventstore/db-client'

/** The place of an attempt according to its reply; absent if the protocol's reply has none. */
export type Place = { readonly revision: bigint | undefined; readonly position: bigint | undefined }

/** One append or deletion, repeated unchanged until its outcome is certain. */
export type Attempt = {
  readonly kind: 'append' | 'delete' | 'tombstone'
  readonly stream: string
  /** Empty for a deletion. */
  readonly events: readonly JSONEventData[]
  /** Whether it restores a deleted stream, for which the server generates an event. */
  readonly revives: boolean
  /** The highest position acknowledged before this was first sent, which its own must exceed. */
  readonly after: bigint
  tries: number
  outcome: { readonly kind: 'open' } | { readonly kind: 'rejected' } | ({ readonly kind: 'acknowledged' } & Place)
}

export type Journal = {
  readonly attempts: readonly Attempt[]
  begin(intent: Pick<Attempt, 'kind' | 'stream' | 'events' | 'revives'>): Attempt
  acknowledge(attempt: Attempt, place: Place): void
  recordRejection(attempt: Attempt): void
  /** Replies that the writers must never get; each one fails the test. */
  readonly surprises: readonly string[]
  surprise(what: string): void
  readonly acknowledged: number
  /** The highest position in any reply. */
  readonly highestPosition: bigint
  /** Calls back when that many more attempts have been acknowledged. */
  afterAcknowledged(more: number, act: () => void): void
  open(): Attempt[]
  /** Attempts whose outcome has become certain since the last call. */
  takeSettled(): Attempt[]
}

export function createJournal(): Journal {
  const attempts: Attempt[] = []
  const open = new Set<Attempt>()
  const surprises: string[] = []
  let settled: Attempt[] = []
  let highest = 0n
  let acknowledged = 0
  let alarm: { readonly at: number; readonly act: () => void } | undefined

  const settle = (attempt: Attempt, outcome: Attempt['outcome']) => {
    attempt.outcome = outcome
    open.delete(attempt)
    settled.push(attempt)
  }
  return {
    attempts,
    surprises,
    begin(intent) {
      const attempt: Attempt = { ...intent, after: highest, tries: 0, outcome: { kind: 'open' } }
      attempts.push(attempt)
      open.add(attempt)
      return attempt
    },
    acknowledge(attempt, place) {
      settle(attempt, { kind: 'acknowledged', ...place })
      if (place.position !== undefined && place.position > highest) highest = place.position
      acknowledged += 1
      if (alarm === undefined || acknowledged < alarm.at) return
      const { act } = alarm
      alarm = undefined
      act()
    },
    recordRejection: (attempt) => settle(attempt, { kind: 'rejected' }),
    surprise: (what) => surprises.push(what),
    get acknowledged() {
      return acknowledged
    },
    afterAcknowledged(more, act) {
      alarm = { at: acknowledged + more, act }
    },
    get highestPosition() {
      return highest
    },
    open: () => [...open],
    takeSettled() {
      const taken = settled
      settled = []
      return taken
    },
  }
}
