// From positions in one log to positions in its copy, for those who have read the one and go on in the other.
import { isAfter, type LogPosition } from '@paylog/domain/events'
import { createRawClient, type RawClient } from '../raw/rawClient.ts'
import { describeEvent, isCopiedStream, isTombstone, type RawEvent } from '../raw/rawEvent.ts'
import { readLogEnd, readRawLog } from '../raw/rawRead.ts'
import { compareWith, copiedEvents, LogDifferenceError } from './comparison.ts'
import { copyEvents } from './copyEvents.ts'

/** Before everything: who goes on from here reads the whole log. */
const beginning: LogPosition = { commit: 0n, prepare: 0n }

export type PositionMap = {
  /** Takes the next event of the source and its counterpart. */
  pair(source: RawEvent, target: RawEvent): void
  /** Where each position is in the target: at the last event that is at or before it. In the order in which they were given. */
  translated(): readonly LogPosition[]
}

function createPositionMap(positions: readonly LogPosition[]): PositionMap {
  const found = new Map<LogPosition, LogPosition>()
  const waiting = positions.toSorted((one, other) => (isAfter(one, other) ? 1 : -1))
  let reached = beginning
  return {
    pair(source, target) {
      for (let next = waiting[0]; next !== undefined && isAfter(source.position, next); next = waiting[0]) {
        found.set(next, reached)
        waiting.shift()
      }
      // The target may have an event earlier than the source has; what was reached stays reached.
      if (isAfter(target.position, reached)) reached = target.position
    },
    translated: () => positions.map((position) => found.get(position) ?? reached),
  }
}

// A first look at the source: how much there is to copy, and whether it can be copied at all.

/** The source cannot be copied as it is; the message names the stream. */
class NotCopyableError extends Error {
  override readonly name = 'NotCopyableError'
}

export type LogSurvey = {
  /** Events to copy. */
  events: number
  /** Events of system streams, which every server makes for itself. */
  systemEvents: number
  /** Of the last event that is to be copied. */
  end: LogPosition | undefined
}

/**
 * Reads the source once. Every stream's number of events is kept in memory, some 100 bytes for each stream.
 * @throws NotCopyableError when a scavenge has taken events away: the others could not keep their revisions
 */
async function surveyLog(source: AsyncIterable<RawEvent>, onEvent: (survey: LogSurvey) => void): Promise<LogSurvey> {
  const survey: LogSurvey = { events: 0, systemEvents: 0, end: undefined }
  const nextRevisions = new Map<string, number>()
  for await (const event of source) {
    if (!isCopiedStream(event.stream)) {
      survey.systemEvents += 1
      continue
    }
    // The event that closes a stream has the highest revision there is, whatever came before.
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

// Copies a log into another one, event by event, and proves that the copy is the same.

/** Longer than any answer takes that a healthy server gives. */
const callTimeoutMs = 20_000

export type CopyProgress = {
  readonly phase: 'survey' | 'copy' | 'verification'
  readonly events: number
  /** Unknown during the survey. */
  readonly of: number | undefined
  /** In the source. */
  readonly position: LogPosition
}

export type CopyResult = {
  /** Events in the target that were compared with the source's. */
  readonly events: number
  readonly copied: number
  /** Of a copy that was interrupted before. */
  readonly alreadyThere: number
  /** Deletions and their reversals, whose ids differ because every server makes its own. */
  readonly madeByServer: number
  readonly systemEventsLeftOut: number
  /** Of the last event, in either log; undefined when there is none. */
  readonly end: { readonly source: LogPosition; readonly target: LogPosition } | undefined
  /** Where the given positions are in the target. */
  readonly positions: readonly LogPosition[]
  /** Events that the source has recorded since the copy began, which are not in the target. */
  readonly recordedSince: number
}

type Ends = { readonly source: RawClient; readonly target: RawClient }
type OnProgress = (progress: CopyProgress) => void

/**
 * Copies all streams of users and their metadata. The target must be empty or hold the beginning of the source's log, as
 * an interrupted copy leaves it; the copy goes on from there.
 * @param options `from` and `to` are connection strings; `positions` are positions in the source to be translated
 * @throws NotCopyableError, LogDifferenceError, LogUnusableError
 */
export async function copyLog(options: {
  readonly from: string
  readonly to: string
  readonly positions?: readonly LogPosition[]
  readonly onProgress: OnProgress
}): Promise<CopyResult> {
  const { positions = [], onProgress } = options
  const end = (name: string, connectionString: string) =>
    createRawClient({ name, connectionString, timeoutMs: callTimeoutMs })
  const ends = { source: end('the source', options.from), target: end('the target', options.to) }
  try {
    await assertPositionsInLog(ends.source, positions)
    // Long before anything is to be written there.
    await readLogEnd(ends.target)
    const survey = await surveyLog(readRawLog(ends.source), ({ events, end }) =>
      onProgress({ phase: 'survey', events, of: undefined, position: end ?? start }),
    )
    const copying = { ...ends, until: survey.end, onEvent: progressOf('copy', survey.events, onProgress) }
    const { copied, alreadyThere } = await copyEvents(copying)
    const verified = await verify(ends, survey.end, positions, progressOf('verification', survey.events, onProgress))
    return {
      events: survey.events,
      copied,
      alreadyThere,
      systemEventsLeftOut: survey.systemEvents,
      recordedSince: await countFrom(ends.source, survey.end),
      ...verified,
    }
  } finally {
    await ends.source.close()
    await ends.target.close()
  }
}

const start: LogPosition = { commit: 0n, prepare: 0n }

function progressOf(phase: CopyProgress['phase'], of: number, onProgress: OnProgress) {
  let events = 0
  return ({ position }: RawEvent) => {
    events += 1
    onProgress({ phase, events, of, position })
  }
}

/** A position beyond the end was counted in another log: in the target, most likely, by an earlier copy. */
async function assertPositionsInLog(source: RawClient, positions: readonly LogPosition[]): Promise<void> {
  const end = await readLogEnd(source)
  const foreign = positions.find((position) => end === undefined || isAfter(position, end.position))
  if (foreign !== undefined) {
    throw new NotCopyableError(
      `The position ${foreign.commit} lies behind the end of the source, so it is one of another log`,
    )
  }
}

/** Reads both logs and compares them, all of the target with the source up to `until`. */
async function verify(
  { source, target }: Ends,
  until: LogPosition | undefined,
  positions: readonly LogPosition[],
  onEvent: (event: RawEvent) => void,
): Promise<Pick<CopyResult, 'end' | 'madeByServer' | 'positions'>> {
  const comparison = compareWith(readRawLog(target))
  const map = createPositionMap(positions)
  let end: CopyResult['end']
  for await (const event of upTo(until, copiedEvents(readRawLog(source)))) {
    const counterpart = await comparison.counterpart(event)
    if (counterpart === undefined) throw new LogDifferenceError(`The target ends before ${describeEvent(event)}`)
    map.pair(event, counterpart)
    end = { source: event.position, target: counterpart.position }
    onEvent(event)
  }
  await comparison.finish()
  return { end, madeByServer: comparison.serverGenerated, positions: map.translated() }
}

/** The events up to a position, none without one. */
async function* upTo(until: LogPosition | undefined, events: AsyncIterable<RawEvent>): AsyncGenerator<RawEvent, void> {
  if (until === undefined) return
  for await (const event of events) {
    if (isAfter(event.position, until)) return
    yield event
  }
}

async function countFrom(source: RawClient, after: LogPosition | undefined): Promise<number> {
  let count = 0
  for await (const _ of copiedEvents(readRawLog(source, after))) count += 1
  return count
}
