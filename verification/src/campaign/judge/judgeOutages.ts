// The judge's rules for one round of faults: how long the event store may seem to be away, and what its clients may say about it.
import type { Outage, Unavailable, Violation } from './observations.ts'

/** The code of the 503s that are judged. */
const ours = 'event_store_unavailable'
const firstWriteMs = 2_000

export type RoundLimits = {
  /** A 503 that takes longer is a violation. */
  readonly slowMs: number
  /** A late first write is a violation, too: a slow machine may cause it. */
  readonly isStrict: boolean
}

export type RoundSeen = {
  /** The faults of the round. */
  readonly story: string
  readonly unavailable: readonly Unavailable[]
  /** Lines of logs which say that the log was cut, restored or replaced. */
  readonly alarms: readonly string[]
  readonly outage: Outage | undefined
}

/**
 * Other faults of a round and providers also delay answers, so durations are judged when a fault of the event store's nodes
 * was alone, of requests without a provider.
 */
export function judgeRound(seen: RoundSeen, { slowMs, isStrict }: RoundLimits): Violation[] {
  const { story, unavailable, alarms, outage } = seen
  const found: Violation[] = []
  const violate = (rule: string, text: string) => void found.push({ rule, story: `${text}, in ${story}` })
  for (const line of alarms) violate('false alarm', line)
  const bare = unavailable.filter(({ code, has_retry_after }) => code === ours && !has_retry_after)
  if (bare.length > 0) violate('503 without Retry-After', `${bare.length} times, first ${bare[0]?.request}`)
  if (!outage?.is_alone) return found
  const slow = unavailable
    .filter(({ calls_provider, status, code }) => !calls_provider && (status === null || code === ours))
    .filter(({ ms }) => ms > slowMs)
    .sort((a, b) => b.ms - a.ms)
  const [slowest] = slow
  if (slowest !== undefined) {
    const what = slowest.status === null ? 'no answer' : 'answered'
    violate('slow 503', `${slow.length} times, at most ${slowest.request}: ${what} after ${seconds(slowest.ms)}`)
  }
  const { write_ms } = outage
  if (isStrict && (write_ms === null || write_ms > firstWriteMs))
    violate('write late after an election', write_ms === null ? 'none accepted' : `accepted after ${seconds(write_ms)}`)
  return found
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
