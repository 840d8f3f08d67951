// Which events of the log an export has. Runs in browsers too.
import type { RawEvent } from '../read/rawEvent.ts'
import type { LogFilter } from '../read/requests.ts'

/** All conditions that are not null must hold. Times are of when the server recorded the event. */
export type ExportFilters = {
  readonly category: string | null
  readonly stream: string | null
  readonly type: string | null
  /** Inclusive. */
  readonly since: string | null
  /** Exclusive. */
  readonly until: string | null
}

export const noFilters: ExportFilters = { category: null, stream: null, type: null, since: null, until: null }

/** Far more than the clocks of two synchronised machines differ. */
const clocksDifferMs = 10_000

/** @returns the first invalid filter and the reason, in words that follow its name; undefined when all are valid */
export function filterProblem(
  { category, stream, type, since, until }: ExportFilters,
  nowMs: number,
): { readonly field: keyof ExportFilters; readonly message: string } | undefined {
  for (const [field, value] of Object.entries({ category, stream, type }))
    if (value === '') return { field: field as keyof ExportFilters, message: 'is empty' }
  if (category?.includes('-'))
    return {
      field: 'category',
      message: 'must not contain a dash: it is the part of a stream name before the first one',
    }
  const system = category?.startsWith('$') ? 'category' : stream?.startsWith('$') ? 'stream' : undefined
  if (system !== undefined) return { field: system, message: 'must not be a system stream, which is not exported' }
  const [sinceMs, untilMs] = [since, until].map((time) => (time === null ? undefined : Date.parse(time)))
  if (Number.isNaN(sinceMs)) return { field: 'since', message: 'must be a time' }
  if (Number.isNaN(untilMs)) return { field: 'until', message: 'must be a time' }
  if (sinceMs !== undefined && sinceMs > nowMs) return { field: 'since', message: 'is in the future' }
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs >= untilMs)
    return { field: 'since', message: 'must be before until' }
  // By the clock of the server it may still be in the future. Events recorded until then would be missing.
  if (untilMs !== undefined && untilMs > nowMs - clocksDifferMs)
    return { field: 'until', message: 'must be at least 10 s ago, because the clock of the event store may be behind' }
  return undefined
}

/** @returns whether an event belongs in the export. System streams never do */
export function createSelector({ category, stream, type, since, until }: ExportFilters): (event: RawEvent) => boolean {
  const sinceMs = since === null ? Number.NEGATIVE_INFINITY : Date.parse(since)
  const untilMs = until === null ? Number.POSITIVE_INFINITY : Date.parse(until)
  return (event) => {
    const createdMs = event.created.getTime()
    return (
      !event.stream.startsWith('$') &&
      (category === null || event.stream.startsWith(`${category}-`)) &&
      (stream === null || event.stream === stream) &&
      (type === null || event.type === type) &&
      createdMs >= sinceMs &&
      createdMs < untilMs
    )
  }
}

/** The part of the filters that a server can apply. */
export function serverFilter({ category, stream, type }: ExportFilters): LogFilter | undefined {
  if (stream !== null) return { streamPrefixes: [stream] }
  if (category !== null) return { streamPrefixes: [`${category}-`] }
  return type === null ? undefined : { typePrefix: type }
}

/** For example "all events of the category payment that were recorded from … on". */
export function filtersText({ category, stream, type, since, until }: ExportFilters): string {
  const times = [...(since === null ? [] : [`from ${since} on`]), ...(until === null ? [] : [`before ${until}`])]
  return [
    `all events${type === null ? '' : ` of the type ${type}`}`,
    ...(stream === null ? [] : [`of the stream ${stream}`]),
    ...(category === null ? [] : [`of the category ${category}`]),
    ...(times.length === 0 ? [] : [`that were recorded ${times.join(' and ')}`]),
    ...([category, stream, type, since, until].every((filter) => filter === null) ? ['of the log'] : []),
  ].join(' ')
}
