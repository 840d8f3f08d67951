// Lag behind the end of the log: counts the matching events after a position, without decoding them.
import { setTimeout as sleep } from 'node:timers/promises'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { CallContext } from '../connection/calls.ts'
import { readPages } from '../read/readPage.ts'
import { readLogEnd } from '../read/reads.ts'

export type Lag = {
  readonly events: number
  /** Whether there may be more events than counted, because of a limit, or because the log ends before the position. */
  readonly isMore: boolean
  /** The first counted event: its position, and when it was recorded. */
  readonly first: { readonly position: LogPosition; readonly created: Date } | undefined
}

/** Counting stops at these limits, and `isMore` is then true. The first events are awaited for the time of one read. */
export type LagLimits = { readonly maxEvents?: number; readonly timeoutMs?: number }

const defaultMaxEvents = 10_000

/**
 * Counts the events after a position in streams with the prefixes; the server filters. The default time limit is that of
 * one read.
 * @throws DomainError `event_store_unavailable`
 */
export async function measureLag(
  context: CallContext,
  position: LogPosition | undefined,
  prefixes: readonly string[],
  { maxEvents = defaultMaxEvents, timeoutMs = context.timeoutMs }: LagLimits = {},
): Promise<Lag> {
  const end = (await readLogEnd(context))?.position
  if (position !== undefined && (end === undefined || isAfter(position, end)))
    return { events: 0, isMore: true, first: undefined }
  if (end === undefined || (position !== undefined && !isAfter(end, position)))
    return { events: 0, isMore: false, first: undefined }
  const filter = { streamPrefixes: prefixes }
  const pages = readPages(context, { after: position, filter, maxEvents: Math.min(pageEvents, maxEvents + 1) })
  const counted = new AbortController()
  const after = (ms: number) => sleep(ms, 'late' as const, { signal: counted.signal }).catch(() => 'late' as const)
  const [late, tooLate] = [after(timeoutMs), after(Math.max(timeoutMs, context.timeoutMs))]
  let [events, first]: [number, Lag['first']] = [0, undefined]
  try {
    for (;;) {
      const limit: Promise<'late'> = first === undefined ? tooLate : late
      const next = await Promise.race([pages.next(), limit])
      if (next === 'late') return { events, isMore: true, first }
      if (next.done) return { events, isMore: false, first }
      const found = next.value.events.filter((event) => !isAfter(event.position, end))
      first ??= found[0]
      events += found.length
      if (events > maxEvents) return { events: maxEvents, isMore: true, first }
      if (found.length < next.value.events.length) return { events, isMore: false, first }
    }
  } finally {
    counted.abort()
    // Not awaited: a read in progress ends by itself.
    void pages.return()
  }
}

/** Few, so that a count that is late has counted something. */
const pageEvents = 500
