// Proposed messages of both append calls, checked as the real server checks them.
import type { UUID } from '@eventstore/db-client/generated/shared_pb.js'
import { BadRequestError, storableText, uuidOf } from '../protocol/identifiers.ts'
import type { ProposedEvent } from './proposal.ts'

/** `type` or `content-type` is missing: the unary call has a status of its own for that. */
export class MissingMetadataError extends BadRequestError {
  override readonly name = 'BadRequestError'
}

type ProposedMessage = {
  getId(): UUID | undefined
  getMetadataMap(): { get(key: string): string | undefined }
  getCustomMetadata_asU8(): Uint8Array
  getData_asU8(): Uint8Array
}

/** So that an event leaves in a message of the size that clients take, with what is added on the way. */
const maxEventBytes = (16 << 20) - (64 << 10)
const maxTypeBytes = 4_096
/** What an event costs beside its bytes, roughly. */
const eventOverheadBytes = 256

/**
 * @throws MissingMetadataError without a type or a content type
 * @throws BadRequestError for what else the real server refuses: a bad id, an empty type
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
    // Copied: as views they would keep the whole message in memory, of which they may be a small part.
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

/** What counts towards the maximum append size: the data alone, as in EventStoreDB up to 24.6. */
export function countedBytesOf(event: { readonly data: Uint8Array }): number {
  return event.data.length
}

/** What an event costs in memory. */
export function pendingBytesOf(event: ProposedEvent): number {
  return event.data.length + event.metadata.length + event.type.length + eventOverheadBytes
}
