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

const maxTypeBytes = 4_096

/** @throws BadRequestError for what the real server refuses: a bad id, no type, no content type */
export function proposedEventOf(message: ProposedMessage): ProposedEvent {
  const metadata = message.getMetadataMap()
  const type = metadata.get('type')
  const contentType = metadata.get('content-type')
  if (type === undefined || contentType === undefined) {
    throw new MissingMetadataError('The metadata properties type and content-type are required')
  }
  const eventId = uuidOf(message.getId())
  if (type === '') throw new BadRequestError('An event type is required')
  if (Buffer.byteLength(type) > maxTypeBytes) throw new BadRequestError(`A type has at most ${maxTypeBytes} bytes`)
  return {
    eventId,
    type: storableText(type, 'type'),
    isJson: contentType === 'application/json',
    metadata: bufferOf(message.getCustomMetadata_asU8()),
    data: bufferOf(message.getData_asU8()),
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** What counts towards the maximum append size: the data alone, as in EventStoreDB up to 24.6. */
export function appendSizeOf(event: ProposedEvent): number {
  return event.data.length
}
