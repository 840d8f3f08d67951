import type { RawEvent } from '../read/rawEvent.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * An event as a line of an export, without a line feed. The fields in this order: id, stream, revision, position, type,
 * created, data, metadata; revision and position as decimal strings. JSON data and metadata are copied digit by digit;
 * only line breaks between tokens become spaces, because an event is one line. Then `exact`, the last field, has the
 * bytes as recorded in base64. Anything else (binary data, invalid JSON, empty metadata) is written in base64 as
 * `data_base64` or `metadata_base64`.
 */
export function exportLine(event: RawEvent): string {
  const { id, stream, revision, position, type, created } = event
  const line = withContent(event, {
    id,
    stream,
    revision: revision.toString(),
    position: position.commit.toString(),
    type,
    created: created.toISOString(),
  })
  const exact = exactContent(event)
  return exact === undefined ? line : `${line.slice(0, -1)},"exact":${JSON.stringify(exact)}}`
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
  return json === undefined ? `"${name}_base64":"${base64(bytes)}"` : `"${name}":${onOneLine(json)}`
}

/** The bytes of JSON with line breaks, if any. */
function exactContent(event: RawEvent): { readonly data?: string; readonly metadata?: string } | undefined {
  const isData = hasLineBreak(event.data) && dataText(event) !== undefined
  const isMetadata = hasLineBreak(event.metadata) && jsonText(event.metadata) !== undefined
  if (!isData && !isMetadata) return undefined
  return { ...(isData && { data: base64(event.data) }), ...(isMetadata && { metadata: base64(event.metadata) }) }
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const hasLineBreak = (bytes: Uint8Array) => bytes.includes(0x0a) || bytes.includes(0x0d)
/** JSON strings contain no raw line breaks, only escapes. */
const onOneLine = (json: string) => json.replaceAll(/[\r\n]/g, ' ')

const dataText = ({ contentType, data }: RawEvent) => (contentType === 'application/json' ? jsonText(data) : undefined)

/** The text, or undefined when it is not JSON. */
function jsonText(bytes: Uint8Array): string | undefined {
  try {
    const text = utf8.decode(bytes)
    JSON.parse(text)
    return text
  } catch {
    return undefined
  }
}
