// Two logs side by side: the copied events must be the same, in the same order.
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { RawClient } from '../connection/calls.ts'
import {
  describeEvent,
  isMetadataOfUserStream,
  isSystemStream,
  type RawEvent,
  tombstoneRevision,
} from '../read/rawEvent.ts'
import { readEvents } from '../read/readPage.ts'

export type Logs = { readonly source: RawClient; readonly target: RawClient }

/** The logs differ; the message names the first difference. */
export class LogDifferenceError extends Error {
  override readonly name = 'LogDifferenceError'
}

/** The source cannot be copied; the message has the reason. */
export class NotCopyableError extends Error {
  override readonly name = 'NotCopyableError'
}

export type LogPart = {
  /** Exclusive start. */
  readonly after?: LogPosition | undefined
  /** Inclusive end. */
  readonly until?: LogPosition | undefined
  readonly onSystemEvent?: () => void
}

/**
 * The events to copy. System streams are left out, because every server has its own.
 * @throws NotCopyableError for metadata and tombstones, which Paylog never writes: a server responds to them with further events
 */
export async function* copiedEvents(
  log: RawClient,
  { after, until, onSystemEvent = () => {} }: LogPart = {},
): AsyncGenerator<RawEvent, void> {
  for await (const event of readEvents(log, { after })) {
    if (until !== undefined && isAfter(event.position, until)) return
    const isSystem = isSystemStream(event.stream)
    if (isMetadataOfUserStream(event.stream) || (!isSystem && event.revision === tombstoneRevision))
      throw new NotCopyableError(
        `${log.name} has ${describeEvent(event)}: streams that were deleted or have metadata are not copied, and Paylog has none`,
      )
    if (isSystem) onSystemEvent()
    else yield event
  }
}

/**
 * The source's events to copy, each with the same event of the target, or with undefined once the target has ended.
 * @throws NotCopyableError; LogDifferenceError at the first difference, and when the target has more events
 */
export async function* comparedEvents(
  { source, target }: Logs,
  part: LogPart,
): AsyncGenerator<readonly [RawEvent, RawEvent | undefined], void> {
  const there = copiedEvents(target)
  for await (const event of copiedEvents(source, part)) {
    const next = await there.next()
    if (!next.done) requireSame(event, next.value)
    yield [event, next.done ? undefined : next.value]
  }
  const extra = await there.next()
  if (!extra.done)
    throw new LogDifferenceError(`The target has ${describeEvent(extra.value)}, which is not in the source`)
}

const isSameBytes = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0

/** Compares everything but position and time, which each server assigns. @throws LogDifferenceError */
export function requireSame(source: RawEvent, target: RawEvent): void {
  const isSame = {
    place: source.stream === target.stream && source.revision === target.revision,
    type: source.type === target.type,
    id: source.id === target.id,
    'content type': source.contentType === target.contentType,
    data: isSameBytes(source.data, target.data),
    metadata: isSameBytes(source.metadata, target.metadata),
  }
  const differences = Object.entries(isSame).flatMap(([field, is]) => (is ? [] : [field]))
  if (differences.length === 0) return
  throw new LogDifferenceError(
    `The logs differ in ${differences.join(', ')}: the source has ${describeEvent(source)}, the target ${describeEvent(target)}`,
  )
}
