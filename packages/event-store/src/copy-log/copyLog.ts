// Copies a log into another one, event by event, and proves that the copy is the same.
import { isAfter, type LogPosition } from '@paylog/domain/logPosition'
import { createRawClient, type RawClient } from '../raw/rawClient.ts'
import { describeEvent, type RawEvent } from '../raw/rawEvent.ts'
import { readLogEnd, readRawLog } from '../raw/rawRead.ts'
import { compareWith, LogDifferenceError, copiedEvents } from './comparison.ts'
import { copyEvents } from './copyEvents.ts'
import { createPositionMap } from './positionMap.ts'
import { NotCopyableError, surveyLog } from './survey.ts'

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
