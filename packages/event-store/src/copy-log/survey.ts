// A first look at the source: how much there is to copy, and whether it can be copied at all.
import type { LogPosition } from '@paylog/domain/logPosition'
import { describeEvent, isCopiedStream, isTombstone, type RawEvent } from '../raw/rawEvent.ts'

/** The source cannot be copied as it is; the message names the stream. */
export class NotCopyableError extends Error {
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
export async function surveyLog(
  source: AsyncIterable<RawEvent>,
  onEvent: (survey: LogSurvey) => void,
): Promise<LogSurvey> {
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
