// What clients saw of the event store in a round of faults, in figures.
import type { Fault } from './faults/kinds.ts'
import type { Outage, Unavailable } from './judge/observations.ts'
import type { Reply } from './load/client.ts'
import type { EventStoreNodes } from './system/nodes.ts'

/** Lines of an app about the event store: an election should leave one. */
const aboutStore = /event.?store|leader|not-leader|UNAVAILABLE/i

/** @returns what the system could not serve */
export function unavailableIn(replies: readonly Reply[]): Unavailable[] {
  return replies
    .filter(({ status }) => status === null || status === 503)
    .map(({ sentAt, receivedAt, ...reply }) => ({ ...reply, ms: receivedAt - sentAt }))
}

/**
 * @param faults of a round
 * @param lines of the logs of the apps in that round
 * @returns undefined when it had no fault of the event store's nodes
 */
export function outageOf(
  faults: readonly Fault[],
  nodes: EventStoreNodes | undefined,
  replies: readonly Reply[],
  lines: ReadonlyMap<string, readonly string[]>,
): Outage | undefined {
  const fault = faults.find(({ strike }) => strike !== undefined)
  if (fault?.strike === undefined || nodes === undefined) return undefined
  const { startedAt, hit, before } = fault.strike
  const elected = nodes.electedAfter(hit, before)?.at
  const from = elected ?? hit
  const written = replies.filter(
    ({ status, sentAt, receivedAt }) => status !== null && status < 300 && sentAt >= startedAt && receivedAt >= from,
  )
  const log_lines = [...lines].map(([name, all]) => [name, all.filter((line) => aboutStore.test(line)).length] as const)
  return {
    kind: fault.kind,
    story: fault.story,
    is_alone: faults.length === 1,
    leader_ms: elected === undefined ? null : elected - hit,
    write_ms: written.length === 0 ? null : Math.min(...written.map(({ receivedAt }) => receivedAt)) - from,
    log_lines: Object.fromEntries(log_lines.filter(([, count]) => count > 0)),
  }
}
