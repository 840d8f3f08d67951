// An event as a line of an export.
import type { RawEvent } from '@paylog/event-store/raw/rawEvent'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The fields in this order: id, stream, revision, position, type, created, data, metadata; revision and position as decimal
 * strings. Data and metadata that are JSON stand there exactly as they were recorded, digit by digit; only a line break
 * between two of its parts becomes a space, because the event is one line. Whatever else they are, the bytes
 * stand there in base64, as `data_base64` or `metadata_base64`: data that was recorded as bytes, what says that it is
 * JSON and is not, and nothing at all (an empty text).
 * @returns without a line feed
 */
export function exportLine(event: RawEvent): string {
  const { id, stream, revision, position, type, created } = event
  const facts = JSON.stringify({
    id,
    stream,
    revision: revision.toString(),
    position: position.commit.toString(),
    type,
    created: created.toISOString(),
  })
  const data = event.contentType === 'application/json' ? jsonText(event.data) : undefined
  return `${facts.slice(0, -1)},${field('data', data, event.data)},${field('metadata', jsonText(event.metadata), event.metadata)}}`
}

function field(name: string, json: string | undefined, bytes: Uint8Array): string {
  return json === undefined ? `"${name}_base64":"${Buffer.from(bytes).toString('base64')}"` : `"${name}":${json}`
}

/** The text on one line, if it is JSON. */
function jsonText(bytes: Uint8Array): string | undefined {
  try {
    const text = utf8.decode(bytes)
    JSON.parse(text)
    // Inside of its strings JSON has no line breaks, only signs for them.
    return text.replaceAll(/[\r\n]/g, ' ')
  } catch {
    return undefined
  }
}
