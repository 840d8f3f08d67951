import type { RawEvent } from '../read/rawEvent.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * An event as a line of an export, without a line feed. The fields in this order: id, stream, revision, position, type,
 * created, data, metadata; revision and position as decimal strings. JSON data and metadata are copied digit by digit;
 * only line breaks between tokens become spaces, because an event is one line. Anything else (binary data, invalid
 * JSON, empty metadata) is written in base64 as `data_base64` or `metadata_base64`.
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

/** The text on one line, or undefined when it is not JSON. */
function jsonText(bytes: Uint8Array): string | undefined {
  try {
    const text = utf8.decode(bytes)
    JSON.parse(text)
    // JSON strings contain no raw line breaks, only escapes.
    return text.replaceAll(/[\r\n]/g, ' ')
  } catch {
    return undefined
  }
}
