// Copies a log into another one, event by event, and verifies that the copy is equal.
import { isAfter, type LogCheckpoint, type LogPosition } from '@paylog/domain/events'
import { createRawClient } from '../connection/calls.ts'
import { describeEvent, type RawEvent } from '../read/rawEvent.ts'
import { readLogEnd } from '../read/reads.ts'
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
  /** The given positions, translated to the target; undefined for the start of the log. */
  readonly positions: readonly (LogCheckpoint | undefined)[]
  /** Number of events that the source has recorded since the copy started; they are not in the target. */
  readonly recordedSince: number
}

/**
 * Copies all user streams, and compares the copy with the source. The target must be empty or hold the start of the source's
 * log, as an interrupted copy leaves it; the copy continues from there.
 * @param options `from` and `to` are connection strings; `positions` are positions in the source, to be translated to the target
 * @throws NotCopyableError, LogDifferenceError, LogUnusableError
 */
export async function copyLog(options: {
  readonly from: string
  readonly to: string
  readonly positions?: readonly LogPosition[]
  readonly onProgress: (progress: CopyProgress) => void
}): Promise<CopyResult> {
  const { positions = [], onProgress } = options
  const logs = {
    source: createRawClient({ name: 'the source', connectionString: options.from }),
    target: createRawClient({ name: 'the target', connectionString: options.to }),
  }
  try {
    const until = (await readLogEnd(logs.source))?.position
    assertPositionsUpTo(until, positions)
    const progressOf =
      (phase: CopyProgress['phase']) =>
      (events: number, { position }: RawEvent) =>
        onProgress({ phase, events, position: position.commit, head: until?.commit ?? 0n })
    const work = { logs, until: until ?? beforeTheLog }
    const copied = await copyEvents({ ...work, onEvent: progressOf('copying') })
    const verified = await verify({ ...work, positions, onEvent: progressOf('comparing') })
    return { ...copied, ...verified, recordedSince: await countAfter(logs, until) }
  } finally {
    await logs.source.close()
    await logs.target.close()
  }
}

/** Until there, nothing is copied. */
const beforeTheLog: LogPosition = { commit: -1n, prepare: -1n }

/** A position after the end belongs to another log, most likely to the target of an earlier copy. */
function assertPositionsUpTo(end: LogPosition | undefined, positions: readonly LogPosition[]): void {
  const foreign = positions.find((position) => end === undefined || isAfter(position, end))
  if (foreign !== undefined) {
    throw new NotCopyableError(
      `Position ${foreign.commit} is after the end of the source, so it belongs to another log`,
    )
  }
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
async function verify({ logs, until, positions, onEvent }: Work & { readonly positions: readonly LogPosition[] }) {
  const translated: (LogCheckpoint | undefined)[] = positions.map(() => undefined)
  let events = 0
  let end: CopyResult['end']
  for await (const [event, counterpart] of comparedEvents(logs, { until })) {
    if (counterpart === undefined) throw new LogDifferenceError(`The target ends before ${describeEvent(event)}`)
    events++
    end = { source: event.position, target: counterpart.position }
    for (const [index, position] of positions.entries())
      if (!isAfter(event.position, position)) translated[index] = counterpart.position
    onEvent(events, event)
  }
  return { events, end, positions: translated }
}

async function countAfter({ source }: Logs, after: LogPosition | undefined): Promise<number> {
  let count = 0
  for await (const _ of copiedEvents(source, { after })) count++
  return count
}
