// An event as a line of an export, and the event of a line.
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

export type LineEvent = Pick<RawEvent, 'id' | 'stream' | 'revision' | 'type' | 'data' | 'metadata'>

/**
 * The event with the bytes that were recorded.
 * @returns undefined for a line that `exportLine` does not write
 */
export function eventOfLine(line: Uint8Array): LineEvent | undefined {
  const text = Buffer.from(line).toString()
  const start =
    /^\{"id":"[^"]*","stream":"(?:[^"\\]|\\.)*","revision":"\d+","position":"\d+","type":"(?:[^"\\]|\\.)*","created":"[^"]*",/.exec(
      text,
    )
  const facts = start && parsed(`${start[0].slice(0, -1)}}`)
  if (!start || !facts) return undefined
  const data = contentAt(text, start[0].length, 'data')
  if (data === undefined || text[data.end] !== ',') return undefined
  const metadata = contentAt(text, data.end + 1, 'metadata')
  if (metadata === undefined || text.slice(metadata.end) !== '}') return undefined
  return {
    id: String(facts.id),
    stream: String(facts.stream),
    revision: BigInt(String(facts.revision)),
    type: String(facts.type),
    data: data.bytes,
    metadata: metadata.bytes,
  }
}

type Content = { readonly bytes: Uint8Array; readonly end: number }

function contentAt(text: string, from: number, name: string): Content | undefined {
  for (const isBase64 of [false, true]) {
    const start = `"${name}${isBase64 ? '_base64' : ''}":`
    if (!text.startsWith(start, from)) continue
    const at = from + start.length
    const end = endOfValue(text, at)
    const value = text.slice(at, end)
    if (!isBase64) return { bytes: Buffer.from(value), end }
    const bytes = Buffer.from(value.slice(1, -1), 'base64')
    // Readers differ in what they see in another text of the same bytes.
    return value === `"${bytes.toString('base64')}"` ? { bytes, end } : undefined
  }
  return undefined
}

/** Where a JSON value ends: at the comma or brace that belongs to the object around it. */
function endOfValue(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const char = text[at]
    if (char === '"') at = endOfString(text, at)
    else if (char === '{' || char === '[') depth++
    else if (depth === 0 && (char === ',' || char === '}')) return at
    else if (char === '}' || char === ']') depth--
  }
  return text.length
}

/** The index of the closing quote. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at
  }
  return text.length
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
