// Parts of requests that several calls share.
import { randomUUID } from 'node:crypto'
import shared, { type Empty, type UUID } from '@eventstore/db-client/generated/shared_pb.js'
import streams, { type AppendReq, type BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js'

export type RawEvent = {
  /** Text, valid or not, or two 64-bit halves. Default: a random id. */
  readonly id?: string | { readonly high: bigint; readonly low: bigint }
  /** `null` sends none. */
  readonly type?: string | null
  readonly contentType?: string | null
  readonly data?: Uint8Array | string
  /** That many bytes of data. */
  readonly bytes?: number
  readonly metadata?: Uint8Array | string
}

export type RawExpectation = 'any' | 'no_stream' | 'stream_exists' | number | bigint

export function uuid(id: string | { readonly high: bigint; readonly low: bigint }): UUID {
  const message = new shared.UUID()
  if (typeof id === 'string') return message.setString(id)
  const halves = new shared.UUID.Structured()
  halves.setMostSignificantBits(String(BigInt.asIntN(64, id.high)))
  halves.setLeastSignificantBits(String(BigInt.asIntN(64, id.low)))
  return message.setStructured(halves)
}

export function batchMessage(event: RawEvent): BatchAppendReq.ProposedMessage {
  return filled(new streams.BatchAppendReq.ProposedMessage(), event)
}

export function unaryMessage(event: RawEvent): AppendReq.ProposedMessage {
  return filled(new streams.AppendReq.ProposedMessage(), event)
}

type Message = Pick<AppendReq.ProposedMessage, 'getMetadataMap'> & {
  setId(id: UUID): unknown
  setData(data: Uint8Array): unknown
  setCustomMetadata(data: Uint8Array): unknown
}

function filled<Filled extends Message>(message: Filled, event: RawEvent): Filled {
  message.setId(uuid(event.id ?? randomUUID()))
  const properties = message.getMetadataMap()
  if (event.type !== null) properties.set('type', event.type ?? 'T')
  if (event.contentType !== null) properties.set('content-type', event.contentType ?? 'application/octet-stream')
  message.setData(Buffer.from(event.data ?? Buffer.alloc(event.bytes ?? 1, 'x')))
  message.setCustomMetadata(Buffer.from(event.metadata ?? ''))
  return message
}

type Expecting = {
  setAny(empty: Empty): unknown
  setNoStream(empty: Empty): unknown
  setStreamExists(empty: Empty): unknown
}

/** `setRevision` sets the expected revision, whose field BatchAppend names differently from the other calls. */
export function setExpectation(
  options: Expecting,
  expected: RawExpectation,
  setRevision: (revision: string) => unknown,
): void {
  if (expected === 'any') options.setAny(new shared.Empty())
  else if (expected === 'no_stream') options.setNoStream(new shared.Empty())
  else if (expected === 'stream_exists') options.setStreamExists(new shared.Empty())
  else setRevision(String(expected))
}
