// An event as its bytes, for copies and exports: nothing is parsed, so nothing can change.

import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { LogPosition } from '@paylog/domain/events'
import { type Codec, domainCodec, type Recorded, UnreadableEventError } from '../codec/codec.ts'

export type RawEvent = {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
  /** When the server recorded it: every log has its own time. */
  readonly created: Date
  readonly position: LogPosition
}

/** The revision of the event that closes a stream for good. */
export const tombstoneRevision = 2n ** 63n - 1n
export const metadataType = '$metadata'

/** Whether a stream's events are moved: those of users and their metadata, not what a server keeps for itself. */
export function isCopiedStream(stream: string): boolean {
  return !(originalStreamOf(stream) ?? stream).startsWith('$')
}

export const metastreamOf = (stream: string) => `$$${stream}`

/** The stream that a metastream describes; undefined for any other stream. */
export function originalStreamOf(stream: string): string | undefined {
  return stream.startsWith('$$') ? stream.slice(2) : undefined
}

export const isTombstone = ({ revision }: RawEvent) => revision === tombstoneRevision

/** An event in words, for messages. */
export function describeEvent({ stream, revision, type, id, position }: RawEvent): string {
  const place = revision === tombstoneRevision ? 'end' : String(revision)
  return `${stream}@${place} (${type}, id ${id}, position ${position.commit})`
}

// What a server's answer tells of a recorded event.

type RecordedEventMessage = ReadResp.ReadEvent.RecordedEvent

/** A server counts time in units of 100 ns. */
const ticksPerMs = 10_000n

export function toRawEvent(recorded: RecordedEventMessage): RawEvent {
  const properties = recorded.getMetadataMap()
  return {
    id: recorded.getId()?.getString() ?? '',
    stream: Buffer.from(recorded.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(),
    revision: BigInt(recorded.getStreamRevision()),
    type: properties.get('type') ?? '',
    contentType: properties.get('content-type') ?? '',
    data: recorded.getData_asU8(),
    metadata: recorded.getCustomMetadata_asU8(),
    created: createdOf(recorded),
    position: positionOf(recorded),
  }
}

export function positionOf(recorded: RecordedEventMessage): LogPosition {
  return { commit: BigInt(recorded.getCommitPosition()), prepare: BigInt(recorded.getPreparePosition()) }
}

/** When the server recorded it, to the millisecond. */
export function createdOf(recorded: RecordedEventMessage): Date {
  return new Date(Number(BigInt(recorded.getMetadataMap().get('created') ?? 0) / ticksPerMs))
}

// From an event's bytes to what this program knows of it.

/**
 * Reads a recorded event.
 * @param codec what the program knows of events
 * @returns the error instead, for an event that this program cannot read
 */
export function decodeRaw(
  event: RawEvent,
  codec: Pick<Codec, 'decode'> = domainCodec,
): Recorded | UnreadableEventError {
  const { stream: streamId, id, revision, type, created, position } = event
  const common = { streamId, id, revision, type, created, position, metadata: parsed(event.metadata) }
  try {
    if (event.contentType !== 'application/json')
      return codec.decode({ ...common, isJson: false, data: event.data }, position)
    return codec.decode({ ...common, isJson: true, data: parsed(event.data) }, position)
  } catch (error) {
    if (error instanceof UnreadableEventError) return error
    throw error
  }
}

/** Bytes that are not JSON fit no schema. */
function parsed(bytes: Uint8Array) {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}
