// What the writers of a durability test sent and what they were told: the record that the log is held against.
import type { JSONEventData } from '@eventstore/db-client'

/** Where an answer says that an attempt went; absent where the protocol has no such answer. */
export type Place = { readonly revision: bigint | undefined; readonly position: bigint | undefined }

/** One append or deletion, repeated in the same words until it is clearly answered. */
export type Attempt = {
  readonly kind: 'append' | 'delete' | 'tombstone'
  readonly stream: string
  /** Empty for a deletion. */
  readonly events: readonly JSONEventData[]
  /** It brings back a deleted stream, for which the server writes an event of its own. */
  readonly revives: boolean
  /** The highest position acknowledged to anybody before this was first sent: it has to come after that. */
  readonly after: bigint
  tries: number
  outcome: { readonly kind: 'open' } | { readonly kind: 'refused' } | ({ readonly kind: 'acknowledged' } & Place)
}

export type Journal = {
  readonly attempts: readonly Attempt[]
  begin(intent: Pick<Attempt, 'kind' | 'stream' | 'events' | 'revives'>): Attempt
  acknowledge(attempt: Attempt, place: Place): void
  refuse(attempt: Attempt): void
  /** Answers that the writers must never get; each one is a failure of the test. */
  readonly surprises: readonly string[]
  surprise(what: string): void
  readonly acknowledged: number
  /** The highest position in any answer. */
  readonly highestPosition: bigint
  /** Calls back at once when that many more attempts were acknowledged. */
  afterAcknowledged(more: number, act: () => void): void
  open(): Attempt[]
  /** What was clearly answered since the last call. */
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
    refuse: (attempt) => settle(attempt, { kind: 'refused' }),
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
