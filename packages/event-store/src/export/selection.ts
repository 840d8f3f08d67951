// Which events of the log an export contains.
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { CallContext } from '../connection/calls.ts'
import type { RawEvent } from '../read/rawEvent.ts'
import { readEvents, readPagesBackwards } from '../read/readPage.ts'
import { readLogEnd } from '../read/reads.ts'
import type { LogFilter } from '../read/requests.ts'

/** All conditions that are set must hold. Times are in ms, of when the server recorded the event. */
export type ExportSelection = {
  readonly category?: string
  readonly stream?: string
  readonly type?: string
  /** Inclusive. */
  readonly since?: number
  /** Exclusive. */
  readonly until?: number
}

/** Far more than the clocks of two synchronised machines differ. */
const clocksDifferMs = 10_000

/**
 * Checks a selection.
 * @param now in ms
 * @returns the name of the invalid condition and the reason, in words that follow the name; undefined when all are valid
 */
export function selectionProblem(
  selection: ExportSelection,
  now: number,
): { readonly field: keyof ExportSelection; readonly message: string } | undefined {
  const { category, stream, type, since, until } = selection
  for (const [field, value] of Object.entries({ category, stream, type }))
    if (value === '') return { field: field as keyof ExportSelection, message: 'is empty' }
  if (category?.includes('-'))
    return {
      field: 'category',
      message: 'must not contain a dash: it is the part of a stream name before the first one',
    }
  for (const [field, value] of [
    ['category', category],
    ['stream', stream],
  ] as const)
    if (value?.startsWith('$')) return { field, message: 'must not be a system stream, which is not exported' }
  if (since !== undefined && since > now) return { field: 'since', message: 'is in the future' }
  if (since !== undefined && until !== undefined && since >= until)
    return { field: 'since', message: 'must be before until' }
  // By the clock of the server it may still be in the future. Events recorded until then would be missing.
  if (until !== undefined && until > now - clocksDifferMs)
    return { field: 'until', message: 'must be at least 10 s ago, because the clock of the event store may be behind' }
  return undefined
}

/** Whether the event belongs in the export. System streams and stream metadata never do. */
export function isSelected({ category, stream, type, since, until }: ExportSelection, event: RawEvent): boolean {
  const createdMs = event.created.getTime()
  return (
    !event.stream.startsWith('$') &&
    (category === undefined || event.stream.startsWith(`${category}-`)) &&
    (stream === undefined || event.stream === stream) &&
    (type === undefined || event.type === type) &&
    (since === undefined || createdMs >= since) &&
    (until === undefined || createdMs < until)
  )
}

/** The part of the selection that a server can filter by. */
export function serverFilter({ category, stream, type }: ExportSelection): LogFilter | undefined {
  if (stream !== undefined) return { streamPrefixes: [stream] }
  if (category !== undefined) return { streamPrefixes: [`${category}-`] }
  return type === undefined ? undefined : { typePrefix: type }
}

/**
 * The end of the part of the log that an export covers. With `until` it is the last event recorded before that time, so
 * that a later export of a longer log is the same.
 * @param onRead called for each event that is skipped on the way back
 * @returns undefined when no event can belong in the export
 */
export async function readExportHead(
  context: CallContext,
  { until }: ExportSelection,
  onRead: (event: RawEvent) => void,
): Promise<LogPosition | undefined> {
  if (until === undefined) return (await readLogEnd(context))?.position
  for await (const events of readPagesBackwards(context)) {
    for (const event of events) {
      if (event.created.getTime() < until) return event.position
      onRead(event)
    }
  }
  return undefined
}

/**
 * The selected events in the order of the log.
 * @param head the last position to read; without it nothing is read
 * @param onRead called for every event that the server sends
 * @throws the context's failure
 */
export async function* readSelected(
  context: CallContext,
  selection: ExportSelection,
  head: LogPosition | undefined,
  onRead: (event: RawEvent) => void,
): AsyncGenerator<RawEvent, void> {
  if (head === undefined) return
  for await (const event of readEvents(context, { filter: serverFilter(selection) })) {
    if (isAfter(event.position, head)) return
    onRead(event)
    if (isSelected(selection, event)) yield event
  }
}
