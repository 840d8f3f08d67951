// What a server's answer tells of a recorded event.
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { LogPosition } from '@paylog/domain/logPosition'
import type { RawEvent } from './rawEvent.ts'

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
