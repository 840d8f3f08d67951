// From an event's bytes to what this program knows of it.
import { type Codec, domainCodec, type Recorded, UnreadableEventError } from '../codec/codec.ts'
import type { RawEvent } from './rawEvent.ts'

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
