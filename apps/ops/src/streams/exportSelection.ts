// Selects the events of an export from the log.
import type { Writable } from 'node:stream'
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import { createRawClient, type RawClient } from '@paylog/event-store/connection/calls'
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import { readEvents, readPagesBackwards } from '@paylog/event-store/read/readPage'
import { readLogEnd } from '@paylog/event-store/read/reads'
import type { LogFilter } from '@paylog/event-store/read/requests'
import { categories } from '@paylog/event-store/streamName'
import { Type } from 'typebox'
import { OpsError, readSince, UsageError } from '../command.ts'
import { withInterrupt } from '../withInterrupt.ts'

/** @throws ConfigError */
export function openRawLog(environment: NodeJS.ProcessEnv): RawClient {
  const { EVENTSTORE_URL } = loadConfig(Type.Object({ EVENTSTORE_URL: url(['esdb', 'esdb+discover']) }), environment)
  return createRawClient({ name: 'The event store', connectionString: EVENTSTORE_URL })
}

/**
 * Runs work that reads the log until Ctrl-C, which also ends pending reads.
 * @param work rejects or returns once the signal has aborted
 * @throws OpsError `interrupted` when it was, even if `work` succeeded
 */
export async function untilInterrupted<Result>(
  { log, errors }: { readonly log: RawClient; readonly errors: Writable },
  interrupted: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  try {
    return await withInterrupt(errors, async (signal) => {
      signal.addEventListener('abort', () => void log.close())
      try {
        return await work(signal)
      } catch (error) {
        throw signal.aborted ? new OpsError(interrupted, { cause: error }) : error
      }
    })
  } finally {
    await log.close()
  }
}

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

export const selectionOptions = {
  category: { type: 'string' },
  stream: { type: 'string' },
  type: { type: 'string' },
  since: { type: 'string' },
  until: { type: 'string' },
} as const

/** Far more than the clocks of two synchronised machines differ. */
const clocksDifferMs = 10_000

/**
 * @param now the time that durations are subtracted from, in ms
 * @throws UsageError
 */
export function parseSelection(
  given: { readonly [Name in keyof typeof selectionOptions]?: string | undefined },
  now: number,
): ExportSelection {
  const { category, stream, type } = given
  for (const [name, value] of Object.entries({ category, stream, type })) {
    if (value === '') throw new UsageError(`--${name} is empty`)
  }
  if (category?.includes('-'))
    throw new UsageError('--category must not contain a dash: it is the part of a stream name before the first one')
  for (const name of [category, stream]) {
    if (name?.startsWith('$')) throw new UsageError(`${name} is a system stream, which is not exported`)
  }
  const since = given.since === undefined ? undefined : readSince(given.since, now, '--since')
  const until = given.until === undefined ? undefined : readSince(given.until, now, '--until')
  if (since !== undefined && until !== undefined && since >= until) {
    throw new UsageError('--since must be before --until')
  }
  // By the clock of the server it may still be in the future. Events recorded until then would be missing.
  if (until !== undefined && until > now - clocksDifferMs) {
    throw new UsageError('--until must be at least 10 s ago, because the clock of the event store may be behind')
  }
  return {
    ...(category === undefined ? {} : { category }),
    ...(stream === undefined ? {} : { stream }),
    ...(type === undefined ? {} : { type }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  }
}

/** A warning for a probably mistyped category. */
export function categoryWarning({ category }: ExportSelection): string | undefined {
  if (category === undefined || categories.some((known) => known === category)) return undefined
  return `Paylog has no category ${category}. It has ${categories.join(', ')}.`
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
function serverFilter({ category, stream, type }: ExportSelection): LogFilter | undefined {
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
  client: RawClient,
  { until }: ExportSelection,
  onRead: (event: RawEvent) => void,
): Promise<LogPosition | undefined> {
  if (until === undefined) return (await readLogEnd(client))?.position
  for await (const events of readPagesBackwards(client)) {
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
 * @throws LogUnusableError
 */
export async function* readSelected(
  client: RawClient,
  selection: ExportSelection,
  head: LogPosition | undefined,
  onRead: (event: RawEvent) => void,
): AsyncGenerator<RawEvent, void> {
  if (head === undefined) return
  for await (const event of readEvents(client, { filter: serverFilter(selection) })) {
    if (isAfter(event.position, head)) return
    onRead(event)
    if (isSelected(selection, event)) yield event
  }
}
