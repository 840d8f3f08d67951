// The oracle: compares the log with the writers' records, independent of the server's implementation.
import type { Attempt } from './journal.ts'

export type LoggedEvent = {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly position: bigint
  readonly type: string
  /** As JSON. */
  readonly data: string
}

export type LogCheck = {
  /** Adds the next event of the log. */
  add(event: LoggedEvent): void
  readonly lastPosition: bigint
  /** Problems in the log itself, or with these attempts, whose replies came before the log was read. */
  faults(attempts: readonly Attempt[]): string[]
  /** Events in the log that no attempt wrote. Only for a completely read log after all outcomes are certain. */
  unexpected(attempts: readonly Attempt[]): string[]
}

const tombstoneRevision = 2n ** 63n - 1n

export function createLogCheck(): LogCheck {
  const events = new Map<string, LoggedEvent>()
  const byPosition = new Map<bigint, LoggedEvent>()
  const lastRevisions = new Map<string, bigint>()
  const broken: string[] = []
  let lastPosition = 0n

  return {
    get lastPosition() {
      return lastPosition
    },
    add(event) {
      const { id, stream, revision, position } = event
      if (position <= lastPosition) broken.push(`position ${position} comes after ${lastPosition}`)
      lastPosition = position
      if (events.has(id)) broken.push(`the event ${id} is there twice, again at ${stream}@${revision}`)
      events.set(id, event)
      byPosition.set(position, event)
      const expected = (lastRevisions.get(stream) ?? -1n) + 1n
      if (revision === tombstoneRevision) return
      if (revision !== expected) broken.push(`${stream} has ${revision} where ${expected} should be`)
      lastRevisions.set(stream, revision)
    },
    faults: (attempts) => [...broken, ...attempts.flatMap((attempt) => faultsOf(attempt, events, byPosition))],
    unexpected: (attempts) => unexpectedIn(events.values(), attempts),
  }
}

function faultsOf(
  attempt: Attempt,
  events: ReadonlyMap<string, LoggedEvent>,
  byPosition: ReadonlyMap<bigint, LoggedEvent>,
): string[] {
  const { outcome, stream } = attempt
  const written = attempt.events.map((event) => event.id && events.get(event.id)).filter((event) => event !== undefined)
  const found = written.filter((event) => event !== '')
  const what = `${attempt.kind} of ${attempt.events.length} to ${stream}, tries ${attempt.tries}`
  if (outcome.kind === 'rejected') return found.length === 0 ? [] : [`rejected, but written: ${what}`]
  if (found.length > 0 && found.length < attempt.events.length) return [`written in part: ${what}`]
  const faults = inOneRun(found) ? [] : [`not written one after the other: ${what}`]
  if (outcome.kind === 'open') return faults
  if (found.length < attempt.events.length) return [`acknowledged at ${outcome.position}, but lost: ${what}`]
  if (outcome.position === undefined) return faults
  if (outcome.position <= attempt.after) faults.push(`acknowledged out of order, at ${outcome.position}: ${what}`)
  const last = attempt.kind === 'append' ? found.at(-1) : byPosition.get(outcome.position)
  if (last === undefined || !isWhereAcknowledged(attempt, outcome, last)) {
    faults.push(`acknowledged as ${outcome.revision} at ${outcome.position}, but ${describe(last)} is there: ${what}`)
  }
  if (!found.every((event, index) => event.data === JSON.stringify(attempt.events[index]?.data))) {
    faults.push(`other data than was written: ${what}`)
  }
  return faults
}

function describe(event: LoggedEvent | undefined): string {
  return event === undefined ? 'nothing' : `${event.stream}@${event.revision} at ${event.position}`
}

function inOneRun(events: readonly LoggedEvent[]): boolean {
  return events.every((event, index) => {
    const before = events[index - 1]
    if (before === undefined) return true
    return event.stream === before.stream && event.revision === before.revision + 1n && event.position > before.position
  })
}

function isWhereAcknowledged(
  { kind, stream }: Attempt,
  outcome: { readonly revision: bigint | undefined; readonly position: bigint | undefined },
  event: LoggedEvent,
): boolean {
  if (event.position !== outcome.position) return false
  if (kind === 'append') return event.stream === stream && event.revision === outcome.revision
  if (kind === 'delete') return event.stream === `$$${stream}` && event.type === '$metadata'
  return event.stream === stream && event.type === '$streamDeleted'
}

/** The server itself may write one event for each deletion and restored stream, and the first events of a log. */
function unexpectedIn(events: Iterable<LoggedEvent>, attempts: readonly Attempt[]): string[] {
  const written = new Set<string | undefined>()
  const allowed = new Map<string, number>()
  const allow = (stream: string, count: number) => allowed.set(stream, (allowed.get(stream) ?? 0) + count)
  for (const { kind, stream, events, revives, tries } of attempts) {
    for (const { id } of events) written.add(id)
    // A repeated deletion succeeds again and writes another event.
    if (kind === 'delete') allow(`$$${stream}`, tries)
    if (kind === 'tombstone') allow(stream, 1)
    if (revives) allow(`$$${stream}`, 1)
  }
  const unexpected: string[] = []
  for (const event of events) {
    if (written.has(event.id) || event.stream.startsWith('$$$')) continue
    allow(event.stream, -1)
    if ((allowed.get(event.stream) ?? 0) < 0) unexpected.push(`${event.type} in ${event.stream}@${event.revision}`)
  }
  return unexpected
}
