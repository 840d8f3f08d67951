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
  return withContent(event, {
    id,
    stream,
    revision: revision.toString(),
    position: position.commit.toString(),
    type,
    created: created.toISOString(),
  })
}

/** An event of a stream as JSON: as in `exportLine`, with the revision as a number. */
export function recordedEventJson(event: RawEvent): string {
  const { id, type, stream, revision, position, created } = event
  return withContent(event, {
    id,
    type,
    stream,
    revision: Number(revision),
    position: position.commit.toString(),
    created: created.toISOString(),
  })
}

/** The facts, and data and metadata as recorded. */
function withContent({ contentType, data, metadata }: RawEvent, facts: object): string {
  const json = contentType === 'application/json' ? jsonText(data) : undefined
  const content = `${field('data', json, data)},${field('metadata', jsonText(metadata), metadata)}`
  return `${JSON.stringify(facts).slice(0, -1)},${content}}`
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
