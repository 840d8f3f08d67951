// The log that an export is made from or compared with.
import type { Writable } from 'node:stream'
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { isAfter, type LogPosition } from '@paylog/domain/events'
import { createRawClient, type RawClient } from '@paylog/event-store/raw/rawClient'
import type { RawEvent } from '@paylog/event-store/raw/rawEvent'
import { type RawFilter, readLogEnd, readRawLog, readRawLogBackwards } from '@paylog/event-store/raw/rawRead'
import { categories } from '@paylog/event-store/streamName'
import { Type } from 'typebox'
import { OpsError, readSince, UsageError } from '../command.ts'
import { withInterrupt } from '../withInterrupt.ts'

/** Longer than any answer takes that a healthy server gives. */
const callTimeoutMs = 20_000
/** A server that leaves out most of the log by itself is silent meanwhile. */
const filteredCallTimeoutMs = 600_000

/** @throws ConfigError */
export function openRawLog(environment: NodeJS.ProcessEnv, options: { readonly isFiltered: boolean }): RawClient {
  const { EVENTSTORE_URL } = loadConfig(Type.Object({ EVENTSTORE_URL: url(['esdb', 'esdb+discover']) }), environment)
  const timeoutMs = options.isFiltered ? filteredCallTimeoutMs : callTimeoutMs
  return createRawClient({ name: 'The event store', connectionString: EVENTSTORE_URL, timeoutMs })
}

/**
 * Reads the log until Ctrl-C, which also cuts off what it waits for.
 * @param work fails on its own once the signal has aborted, or ends
 * @throws OpsError `interrupted` when it was, whatever came of the work
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

// What an export is to hold, as its options say it and as its manifest keeps it.

/** Everything that is set must be true of an event. Times are in ms, of when the server recorded it. */
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

/** Far more than the clocks of two machines differ that are set by the same time. */
const clocksDifferMs = 10_000

/**
 * @param now what durations are counted back from, in ms
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
  if (category?.includes('-')) throw new UsageError('--category has no dash: it is what stands before the first one')
  for (const name of [category, stream]) {
    if (name?.startsWith('$')) throw new UsageError(`${name} is the server's own, and such streams are not exported`)
  }
  const since = given.since === undefined ? undefined : readSince(given.since, now, '--since')
  const until = given.until === undefined ? undefined : readSince(given.until, now, '--until')
  if (since !== undefined && until !== undefined && since >= until) {
    throw new UsageError('--since must lie before --until')
  }
  // By the server's clock it may still be to come: what is recorded then would be missing from what looks complete.
  if (until !== undefined && until > now - clocksDifferMs) {
    throw new UsageError('--until must be 10 s ago or longer: the clock of the event store may be that much behind')
  }
  return {
    ...(category === undefined ? {} : { category }),
    ...(stream === undefined ? {} : { stream }),
    ...(type === undefined ? {} : { type }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  }
}

/** What an operator should know who may have mistyped a category. */
export function categoryWarning({ category }: ExportSelection): string | undefined {
  if (category === undefined || categories.some((known) => known === category)) return undefined
  return `Paylog has no category ${category}. It has ${categories.join(', ')}.`
}

/** Whether an event belongs into the export. What a server keeps for itself never does, metadata of streams included. */
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

/** As much of the selection as a server can go by. */
export function serverFilter({ category, stream, type }: ExportSelection): RawFilter | undefined {
  if (stream !== undefined) return { streamPrefix: stream }
  if (category !== undefined) return { streamPrefix: `${category}-` }
  return type === undefined ? undefined : { typePrefix: type }
}

/**
 * Where the part of the log ends that an export covers. With `until`, at the last event that was recorded before it:
 * nothing behind that can belong into the export, and the same export made later, of a longer log, is the same.
 * @param onRead is told of what is passed on the way back
 * @returns undefined when no event can belong into the export
 */
export async function readExportHead(
  client: RawClient,
  { until }: ExportSelection,
  onRead: (event: RawEvent) => void,
): Promise<LogPosition | undefined> {
  if (until === undefined) return (await readLogEnd(client))?.position
  for await (const event of readRawLogBackwards(client)) {
    if (event.created.getTime() < until) return event.position
    onRead(event)
  }
  return undefined
}

/**
 * The selected events in the order of the log.
 * @param head the position of the last event that is looked at; none without it
 * @param onRead is told of every event that the server sends
 * @throws LogUnusableError
 */
export async function* readSelected(
  client: RawClient,
  selection: ExportSelection,
  head: LogPosition | undefined,
  onRead: (event: RawEvent) => void,
): AsyncGenerator<RawEvent, void> {
  if (head === undefined) return
  for await (const event of readRawLog(client, undefined, serverFilter(selection))) {
    if (isAfter(event.position, head)) return
    onRead(event)
    if (isSelected(selection, event)) yield event
  }
}
