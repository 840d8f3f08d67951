import type { RawEvent } from '../read/rawEvent.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * An event as a line of an export, without a line feed. The fields in this order: id, stream, revision, position, type,
 * created, data, metadata; revision and position as decimal strings. JSON data and metadata are copied digit by digit.
 * Anything else (binary data, invalid JSON, JSON on several lines, empty metadata) is written in base64 as `data_base64` or
 * `metadata_base64`.
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
function withContent(event: RawEvent, facts: object): string {
  const content = `${field('data', dataText(event), event.data)},${field('metadata', jsonText(event.metadata), event.metadata)}`
  return `${JSON.stringify(facts).slice(0, -1)},${content}}`
}

function field(name: string, json: string | undefined, bytes: Uint8Array): string {
  return json === undefined ? `"${name}_base64":"${Buffer.from(bytes).toString('base64')}"` : `"${name}":${json}`
}

const dataText = ({ contentType, data }: RawEvent) => (contentType === 'application/json' ? jsonText(data) : undefined)

/** The text, or undefined when it is not JSON on one line. Line breaks in strings are escapes. */
function jsonText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0x0a) || bytes.includes(0x0d)) return undefined
  try {
    const text = utf8.decode(bytes)
    JSON.parse(text)
    return text
  } catch {
    return undefined
  }
}
