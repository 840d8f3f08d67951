// The event in a line of an export: the inverse of `exportLine`.
import type { RawEvent } from '../read/rawEvent.ts'

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
