// Proposed messages of both append calls, validated like EventStoreDB does.
import type { UUID } from '@eventstore/db-client/generated/shared_pb.js'
import { BadRequestError, storableText, uuidOf } from '../protocol/identifiers.ts'
import type { ProposedEvent } from './proposal.ts'

/** `type` or `content-type` is missing, for which the unary call has a special status. */
export class MissingMetadataError extends BadRequestError {
  override readonly name = 'BadRequestError'
}

type ProposedMessage = {
  getId(): UUID | undefined
  getMetadataMap(): { get(key: string): string | undefined }
  getCustomMetadata_asU8(): Uint8Array
  getData_asU8(): Uint8Array
}

/** Keeps read messages, with their overhead, within the size that clients accept. */
const maxEventBytes = (16 << 20) - (64 << 10)
const maxTypeBytes = 4_096
/** Approximate memory overhead of an event. */
const eventOverheadBytes = 256

/**
 * @throws MissingMetadataError without a type or a content type
 * @throws BadRequestError for everything else that EventStoreDB rejects: an invalid id, an empty type
 */
export function proposedEventOf(message: ProposedMessage): ProposedEvent {
  const { type, contentType } = requiredMetadataOf(message)
  const eventId = uuidOf(message.getId())
  if (type === '') throw new BadRequestError('An event type is required')
  if (Buffer.byteLength(type) > maxTypeBytes) throw new BadRequestError(`A type has at most ${maxTypeBytes} bytes`)
  const metadata = message.getCustomMetadata_asU8()
  const data = message.getData_asU8()
  if (data.length + metadata.length > maxEventBytes) {
    throw new BadRequestError(`An event has at most ${maxEventBytes} bytes of data and metadata`)
  }
  return {
    eventId,
    type: storableText(type, 'type'),
    isJson: contentType === 'application/json',
    // Copied, because views would keep the whole message in memory.
    metadata: Buffer.from(metadata),
    data: Buffer.from(data),
  }
}

/** @throws MissingMetadataError */
export function requiredMetadataOf(message: ProposedMessage): { readonly type: string; readonly contentType: string } {
  const metadata = message.getMetadataMap()
  const type = metadata.get('type')
  const contentType = metadata.get('content-type')
  if (type === undefined || contentType === undefined) {
    throw new MissingMetadataError('The metadata properties type and content-type are required')
  }
  return { type, contentType }
}

/** Bytes that count towards the maximum append size: the data alone, as in EventStoreDB up to 24.6. */
export function countedBytesOf(event: { readonly data: Uint8Array }): number {
  return event.data.length
}

/** Memory that an event takes. */
export function pendingBytesOf(event: ProposedEvent): number {
  return event.data.length + event.metadata.length + event.type.length + eventOverheadBytes
}
