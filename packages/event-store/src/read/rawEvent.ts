// A recorded event with its exact bytes: nothing is parsed, so nothing can change.

import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { LogCheckpoint } from '@paylog/domain/events'

export type RawEvent = {
  readonly id: string
  readonly stream: string
  readonly revision: bigint
  readonly type: string
  readonly contentType: string
  readonly data: Uint8Array
  readonly metadata: Uint8Array
  /** When this server recorded it; a copy has another time. */
  readonly created: Date
  readonly position: LogCheckpoint
}

/** The revision of a tombstone, which closes a stream for good. */
export const tombstoneRevision = 2n ** 63n - 1n

/** Streams of the server, and the metadata of all streams. */
export const isSystemStream = (stream: string) => stream.startsWith('$')

/** Whether the stream has the metadata of a stream that is none of the server's. */
export const isMetadataOfUserStream = (stream: string) => stream.startsWith('$$') && !isSystemStream(stream.slice(2))

/** Describes an event in messages. */
export function describeEvent({ stream, revision, type, id, position }: RawEvent): string {
  return `${stream}@${revision} (${type}, id ${id}, position ${position.commit})`
}

type RecordedEventMessage = ReadResp.ReadEvent.RecordedEvent

/** Server timestamps count units of 100 ns. */
const ticksPerMs = 10_000n

export const streamOf = (recorded: RecordedEventMessage) =>
  Buffer.from(recorded.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString()

export function toRawEvent(recorded: RecordedEventMessage): RawEvent {
  const properties = recorded.getMetadataMap()
  const id = recorded.getId()?.getString() ?? ''
  return {
    id,
    stream: streamOf(recorded),
    revision: BigInt(recorded.getStreamRevision()),
    type: properties.get('type') ?? '',
    contentType: properties.get('content-type') ?? '',
    data: recorded.getData_asU8(),
    metadata: recorded.getCustomMetadata_asU8(),
    created: createdOf(recorded),
    position: {
      commit: BigInt(recorded.getCommitPosition()),
      prepare: BigInt(recorded.getPreparePosition()),
      eventId: id,
    },
  }
}

/** When the server recorded it, to the millisecond. */
function createdOf(recorded: RecordedEventMessage): Date {
  return new Date(Number(BigInt(recorded.getMetadataMap().get('created') ?? 0) / ticksPerMs))
}
