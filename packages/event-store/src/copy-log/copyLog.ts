// Copies a log into another one, event by event, and verifies that the copy is equal.
import { isAfter, type LogCheckpoint, type LogPosition } from '@paylog/domain/events'
import { createRawClient, type RawClient } from '../connection/calls.ts'
import { describeEvent, isCopiedStream, isTombstone, type RawEvent } from '../read/rawEvent.ts'
import { readEvents } from '../read/readPage.ts'
import { readLogEnd } from '../read/reads.ts'
import { compareWith, copiedEvents, LogDifferenceError } from './comparison.ts'
import { copyEvents } from './copyEvents.ts'

export type CopyProgress = {
  readonly phase: 'survey' | 'copy' | 'verification'
  readonly events: number
  /** Total; unknown during the survey. */
  readonly of: number | undefined
  /** Position in the source. */
  readonly position: LogPosition
}

export type CopyResult = {
  /** Copied events in the target, all compared with the source's. */
  readonly events: number
  readonly copied: number
  /** Copied by an earlier, interrupted copy. */
  readonly alreadyThere: number
  /** Deletions and restorations of streams, whose ids differ because every server generates its own. */
  readonly madeByServer: number
  readonly systemEventsLeftOut: number
  /** Position of the last copied event in either log; undefined when there is none. */
  readonly end: { readonly source: LogPosition; readonly target: LogPosition } | undefined
  /** The given positions, translated to the target; undefined for the start of the log. */
  readonly positions: readonly (LogCheckpoint | undefined)[]
  /** Number of events that the source has recorded since the copy began; they are not in the target. */
  readonly recordedSince: number
}

type LogClients = { readonly source: RawClient; readonly target: RawClient }
type OnProgress = (progress: CopyProgress) => void

/** The source cannot be copied; the message has the reason. */
class NotCopyableError extends Error {
  override readonly name = 'NotCopyableError'
}

/** Before the first event. */
const start: LogPosition = { commit: 0n, prepare: 0n }

/**
 * Copies all user streams and their metadata, and compares the copy with the source. The target must be empty or hold the
 * start of the source's log, as an interrupted copy leaves it; the copy continues from there.
 * @param options `from` and `to` are connection strings; `positions` are positions in the source, to be translated to the target
 * @throws NotCopyableError, LogDifferenceError, LogUnusableError
 */
export async function copyLog(options: {
  readonly from: string
  readonly to: string
  readonly positions?: readonly LogPosition[]
  readonly onProgress: OnProgress
}): Promise<CopyResult> {
  const { positions = [], onProgress } = options
  const client = (name: string, connectionString: string) => createRawClient({ name, connectionString })
  const clients = { source: client('the source', options.from), target: client('the target', options.to) }
  try {
    await assertPositionsInLog(clients.source, positions)
    // Fails early when the target is unreachable.
    await readLogEnd(clients.target)
    const survey = await surveyLog(readEvents(clients.source), ({ events, end }) =>
      onProgress({ phase: 'survey', events, of: undefined, position: end ?? start }),
    )
    const copying = { ...clients, until: survey.end, onEvent: progressOf('copy', survey.events, onProgress) }
    const { copied, alreadyThere } = await copyEvents(copying)
    const verified = await verify(clients, survey.end, positions, progressOf('verification', survey.events, onProgress))
    return {
      events: survey.events,
      copied,
      alreadyThere,
      systemEventsLeftOut: survey.systemEvents,
      recordedSince: await countFrom(clients.source, survey.end),
      ...verified,
    }
  } finally {
    await clients.source.close()
    await clients.target.close()
  }
}

function progressOf(phase: CopyProgress['phase'], of: number, onProgress: OnProgress) {
  let events = 0
  return ({ position }: RawEvent) => {
    events += 1
    onProgress({ phase, events, of, position })
  }
}

/** A position after the end belongs to another log, most likely to the target of an earlier copy. */
async function assertPositionsInLog(source: RawClient, positions: readonly LogPosition[]): Promise<void> {
  const end = await readLogEnd(source)
  const foreign = positions.find((position) => end === undefined || isAfter(position, end.position))
  if (foreign !== undefined) {
    throw new NotCopyableError(
      `Position ${foreign.commit} is after the end of the source, so it belongs to another log`,
    )
  }
}

/** Compares the whole target with the source up to `until`. */
async function verify(
  { source, target }: LogClients,
  until: LogPosition | undefined,
  positions: readonly LogPosition[],
  onEvent: (event: RawEvent) => void,
): Promise<Pick<CopyResult, 'end' | 'madeByServer' | 'positions'>> {
  const comparison = compareWith(readEvents(target))
  const map = createPositionMap(positions)
  let end: CopyResult['end']
  for await (const event of upTo(until, copiedEvents(readEvents(source)))) {
    const counterpart = await comparison.counterpart(event)
    if (counterpart === undefined) throw new LogDifferenceError(`The target ends before ${describeEvent(event)}`)
    map.pair(event, counterpart)
    end = { source: event.position, target: counterpart.position }
    onEvent(event)
  }
  await comparison.finish()
  return { end, madeByServer: comparison.serverGenerated, positions: map.translated() }
}

/** The events up to a position; none if it is undefined. */
async function* upTo(until: LogPosition | undefined, events: AsyncIterable<RawEvent>): AsyncGenerator<RawEvent, void> {
  if (until === undefined) return
  for await (const event of events) {
    if (isAfter(event.position, until)) return
    yield event
  }
}

async function countFrom(source: RawClient, after: LogPosition | undefined): Promise<number> {
  let count = 0
  for await (const _ of copiedEvents(readEvents(source, { after }))) count += 1
  return count
}

export type LogSurvey = {
  /** Number of events to copy. */
  events: number
  /** Number of events in system streams, which are not copied. */
  systemEvents: number
  /** Position of the last event to copy. */
  end: LogPosition | undefined
}

/**
 * Reads the source once, counts the events, and checks that they can be copied. Uses about 100 bytes of memory per stream.
 * @throws NotCopyableError when a scavenge has removed events, because the others could not keep their revisions
 */
async function surveyLog(source: AsyncIterable<RawEvent>, onEvent: (survey: LogSurvey) => void): Promise<LogSurvey> {
  const survey: LogSurvey = { events: 0, systemEvents: 0, end: undefined }
  const nextRevisions = new Map<string, number>()
  for await (const event of source) {
    if (!isCopiedStream(event.stream)) {
      survey.systemEvents += 1
      continue
    }
    // A tombstone has the highest possible revision, regardless of earlier events.
    if (!isTombstone(event)) {
      const next = nextRevisions.get(event.stream) ?? 0
      if (event.revision !== BigInt(next)) throw new NotCopyableError(gapMessage(event, next))
      nextRevisions.set(event.stream, next + 1)
    }
    survey.events += 1
    survey.end = event.position
    onEvent(survey)
  }
  return survey
}

function gapMessage(event: RawEvent, next: number): string {
  return (
    `The source has no revision ${next} of ${event.stream}, only ${describeEvent(event)}: a scavenge has removed events, and ` +
    'the others could not keep their revisions in a new log'
  )
}

/** Translates positions in one log to positions in its copy, for consumers that continue there. */
export type PositionMap = {
  /** Adds the next event of the source and its counterpart. */
  pair(source: RawEvent, target: RawEvent): void
  /** For each position, in the given order: the target's counterpart of the last event at or before it. */
  translated(): readonly (LogCheckpoint | undefined)[]
}

function createPositionMap(positions: readonly LogPosition[]): PositionMap {
  const found = new Map<LogPosition, LogCheckpoint | undefined>()
  const waiting = positions.toSorted((one, other) => (isAfter(one, other) ? 1 : -1))
  let reached: LogCheckpoint | undefined
  return {
    pair(source, target) {
      for (let next = waiting[0]; next !== undefined && isAfter(source.position, next); next = waiting[0]) {
        found.set(next, reached)
        waiting.shift()
      }
      // The target may have an event earlier in its order than the source; never go back.
      if (reached === undefined || isAfter(target.position, reached)) reached = target.position
    },
    translated: () => positions.map((position) => (found.has(position) ? found.get(position) : reached)),
  }
}
