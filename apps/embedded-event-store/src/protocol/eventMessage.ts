// Encodes stored events as ReadResp bytes, once per event for all readers, and positions in messages.
import type { StoredEvent } from '../storage/storedEvent.ts'
import {
  type ByteWriter,
  lengthDelimitedSize,
  uint64Size,
  writeBytes,
  writeLengthDelimitedHeader,
  writeText,
  writeUint64Field,
} from './wire.ts'

type Placed = { setCommitPosition(value: string): unknown; setPreparePosition(value: string): unknown }

/** Sets both numbers of a position, which are equal in this log. @returns the message */
export function placedAt<Message extends Placed>(message: Message, position: bigint): Message {
  message.setCommitPosition(String(position))
  message.setPreparePosition(String(position))
  return message
}

/** How event ids are sent: the Node client requests text, others two 64-bit halves. */
export type IdFormat = 'string' | 'structured'

const encodedEvents = new WeakMap<StoredEvent, Buffer>()

/** ReadResp.event of an event that is not a resolved link. */
export function eventMessage(event: StoredEvent, idFormat: IdFormat): Buffer {
  if (idFormat === 'structured') return encode({ event, idFormat })
  const known = encodedEvents.get(event)
  if (known !== undefined) return known
  const encoded = encode({ event, idFormat })
  encodedEvents.set(event, encoded)
  return encoded
}

/** ReadResp.event of a link and its target; the target is undefined when it cannot be read. */
export function resolvedLinkMessage(link: StoredEvent, target: StoredEvent | undefined, idFormat: IdFormat): Buffer {
  return encode({ event: target, link, idFormat })
}

type Layout = { readonly size: number; readonly write: (out: ByteWriter) => void }

// ReadResp { event = 1 { event = 1, link = 2, commit_position = 3 } }
function encode(parts: {
  readonly event: StoredEvent | undefined
  readonly link?: StoredEvent
  readonly idFormat: IdFormat
}): Buffer {
  const event = parts.event && layOut(parts.event, parts.idFormat)
  const link = parts.link && layOut(parts.link, parts.idFormat)
  const commitPosition = (parts.link ?? parts.event)?.position ?? 0n
  const inner =
    (event ? lengthDelimitedSize(event.size) : 0) +
    (link ? lengthDelimitedSize(link.size) : 0) +
    1 +
    uint64Size(commitPosition)
  // Not a piece of a buffer that others use as well: the message stays as long as its event.
  const out: ByteWriter = { bytes: Buffer.allocUnsafeSlow(lengthDelimitedSize(inner)), at: 0 }
  writeLengthDelimitedHeader(out, 1, inner)
  if (event) {
    writeLengthDelimitedHeader(out, 1, event.size)
    event.write(out)
  }
  if (link) {
    writeLengthDelimitedHeader(out, 2, link.size)
    link.write(out)
  }
  writeUint64Field(out, 3, commitPosition)
  return out.bytes
}

// RecordedEvent { id = 1, stream_identifier = 2 { stream_name = 3 }, stream_revision = 3, prepare_position = 4,
// commit_position = 5, metadata = 6 map, custom_metadata = 7, data = 8 }
function layOut(event: StoredEvent, idFormat: IdFormat): Layout {
  const id = idFormat === 'string' ? stringId(event.eventId) : structuredId(event.eventId)
  const nameLength = Buffer.byteLength(event.stream)
  const positionSize = 1 + uint64Size(event.position)
  const entries: [string, string][] = [
    ['content-type', event.isJson ? 'application/json' : 'application/octet-stream'],
    ['created', String(event.createdTicks)],
    ['type', event.type],
  ]
  const entrySizes = entries.map(([key, value]) => mapEntrySize(key, value))
  const size =
    lengthDelimitedSize(id.length) +
    lengthDelimitedSize(lengthDelimitedSize(nameLength)) +
    (event.revision === 0n ? 0 : 1 + uint64Size(event.revision)) +
    positionSize * 2 +
    entrySizes.reduce((sum, entry) => sum + lengthDelimitedSize(entry), 0) +
    (event.metadata.length === 0 ? 0 : lengthDelimitedSize(event.metadata.length)) +
    (event.data.length === 0 ? 0 : lengthDelimitedSize(event.data.length))
  const write = (out: ByteWriter) => {
    writeBytes(out, 1, id)
    writeLengthDelimitedHeader(out, 2, lengthDelimitedSize(nameLength))
    writeText(out, 3, event.stream, nameLength)
    if (event.revision !== 0n) writeUint64Field(out, 3, event.revision)
    writeUint64Field(out, 4, event.position)
    writeUint64Field(out, 5, event.position)
    for (const [index, [key, value]] of entries.entries()) {
      writeLengthDelimitedHeader(out, 6, entrySizes[index] ?? 0)
      writeText(out, 1, key, Buffer.byteLength(key))
      writeText(out, 2, value, Buffer.byteLength(value))
    }
    if (event.metadata.length > 0) writeBytes(out, 7, event.metadata)
    if (event.data.length > 0) writeBytes(out, 8, event.data)
  }
  return { size, write }
}

function mapEntrySize(key: string, value: string): number {
  return lengthDelimitedSize(Buffer.byteLength(key)) + lengthDelimitedSize(Buffer.byteLength(value))
}

// UUID { structured = 1, string = 2 }
function stringId(eventId: string): Buffer {
  const out: ByteWriter = { bytes: Buffer.allocUnsafe(2 + eventId.length), at: 0 }
  writeText(out, 2, eventId, eventId.length)
  return out.bytes
}

// Structured { most_significant_bits = 1, least_significant_bits = 2 }, both int64
function structuredId(eventId: string): Buffer {
  const hex = eventId.replaceAll('-', '')
  const high = BigInt(`0x${hex.slice(0, 16)}`)
  const low = BigInt(`0x${hex.slice(16)}`)
  const length = 2 + uint64Size(high) + uint64Size(low)
  const out: ByteWriter = { bytes: Buffer.allocUnsafe(lengthDelimitedSize(length)), at: 0 }
  writeLengthDelimitedHeader(out, 1, length)
  writeUint64Field(out, 1, high)
  writeUint64Field(out, 2, low)
  return out.bytes
}
