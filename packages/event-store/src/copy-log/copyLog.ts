// Copies a log into another one, event by event, and verifies that the copy is equal.
import type { LogCheckpoint, LogPosition } from '@paylog/domain/events'
import { createRawClient } from '../connection/calls.ts'
import { describeEvent, type RawEvent } from '../read/rawEvent.ts'
import { findCheckpoint, isInLog, readLogEnd, readStreamPage } from '../read/reads.ts'
import { createRawWriter } from './appendRaw.ts'
import { comparedEvents, copiedEvents, LogDifferenceError, type Logs, NotCopyableError } from './comparison.ts'

export type CopyProgress = {
  readonly phase: 'copying' | 'comparing'
  readonly events: number
  /** In the source. */
  readonly position: bigint
  /** Where the copy ends. */
  readonly head: bigint
}

export type CopyResult = {
  /** Copied events in the target, all compared with the source's. */
  readonly events: number
  readonly copied: number
  /** Copied by an earlier, interrupted copy. */
  readonly alreadyThere: number
  readonly systemEventsLeftOut: number
  /** Position of the last copied event in either log; undefined when there is none. */
  readonly end: { readonly source: LogPosition; readonly target: LogPosition } | undefined
  /** Where the target has the events of the given checkpoints; undefined for those that are the target's already. */
  readonly checkpoints: readonly (LogCheckpoint | undefined)[]
  /** Number of events that the source has recorded since the copy started; they are not in the target. */
  readonly recordedSince: number
}

/**
 * Copies all user streams, and compares the copy with the source. The target must be empty or hold the start of the source's
 * log, as an interrupted copy leaves it; the copy continues from there.
 * @param options `from` and `to` are connection strings; `checkpoints` are those of readers of the source
 * @throws NotCopyableError, LogDifferenceError, LogUnusableError
 */
export async function copyLog(options: {
  readonly from: string
  readonly to: string
  readonly checkpoints?: readonly LogCheckpoint[]
  readonly onProgress: (progress: CopyProgress) => void
}): Promise<CopyResult> {
  const { checkpoints = [], onProgress } = options
  const logs = {
    source: createRawClient({ name: 'the source', connectionString: options.from }),
    target: createRawClient({ name: 'the target', connectionString: options.to }),
  }
  try {
    const until = (await readLogEnd(logs.source))?.position
    const read = await eventsAt(logs, checkpoints)
    const progressOf =
      (phase: CopyProgress['phase']) =>
      (events: number, { position }: RawEvent) =>
        onProgress({ phase, events, position: position.commit, head: until?.commit ?? 0n })
    const work = { logs, until: until ?? beforeTheLog }
    const copied = await copyEvents({ ...work, onEvent: progressOf('copying') })
    const verified = await verify({ ...work, onEvent: progressOf('comparing') })
    const moved = await checkpointsAt(logs, read)
    return { ...copied, ...verified, checkpoints: moved, recordedSince: await countAfter(logs, until) }
  } finally {
    await logs.source.close()
    await logs.target.close()
  }
}

/** Until there, nothing is copied. */
const beforeTheLog: LogPosition = { commit: -1n, prepare: -1n }

/**
 * The last event that each reader has read; undefined for a checkpoint that an earlier copy has moved to the target.
 * @throws NotCopyableError for a checkpoint of another log
 */
async function eventsAt(logs: Logs, checkpoints: readonly LogCheckpoint[]): Promise<(RawEvent | undefined)[]> {
  const events: (RawEvent | undefined)[] = []
  for (const checkpoint of checkpoints) {
    const { commit, eventId } = checkpoint
    const event = await findCheckpoint(logs.source, checkpoint)
    const isRight = event?.id === eventId
    if (!isRight && !(await isInLog(logs.target, checkpoint)))
      throw new NotCopyableError(
        `The source does not have the event ${eventId} at position ${commit}, so this checkpoint belongs to another log`,
      )
    events.push(isRight ? event : undefined)
  }
  return events
}

/** The checkpoints of these events in the target. */
async function checkpointsAt({ target }: Logs, events: readonly (RawEvent | undefined)[]) {
  const checkpoints: (LogCheckpoint | undefined)[] = []
  for (const event of events) {
    const copy = event && (await readStreamPage(target, event.stream, event.revision, 1)).events[0]
    if (event !== undefined && copy?.id !== event.id)
      throw new LogDifferenceError(`The target does not have ${describeEvent(event)}`)
    checkpoints.push(copy?.position)
  }
  return checkpoints
}

type Work = {
  readonly logs: Logs
  /** The last position to copy. */
  readonly until: LogPosition
  readonly onEvent: (events: number, event: RawEvent) => void
}

async function copyEvents({ logs, until, onEvent }: Work) {
  let [alreadyThere, copied, systemEventsLeftOut] = [0, 0, 0]
  const writer = createRawWriter(logs.target)
  const part = { until, onSystemEvent: () => void systemEventsLeftOut++ }
  for await (const [event, counterpart] of comparedEvents(logs, part)) {
    if (counterpart === undefined) {
      await writer.add(event)
      copied++
    } else alreadyThere++
    onEvent(copied + alreadyThere, event)
  }
  await writer.flush()
  return { alreadyThere, copied, systemEventsLeftOut }
}

/** Compares the whole target with the source up to `until`. */
async function verify({ logs, until, onEvent }: Work) {
  let events = 0
  let end: CopyResult['end']
  for await (const [event, counterpart] of comparedEvents(logs, { until })) {
    if (counterpart === undefined) throw new LogDifferenceError(`The target ends before ${describeEvent(event)}`)
    events++
    end = { source: event.position, target: counterpart.position }
    onEvent(events, event)
  }
  return { events, end }
}

async function countAfter({ source }: Logs, after: LogPosition | undefined): Promise<number> {
  let count = 0
  for await (const _ of copiedEvents(source, { after })) count++
  return count
}
