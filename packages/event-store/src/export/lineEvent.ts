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
  const facts = start === null ? undefined : parsed(`${start[0].slice(0, -1)}}`)
  if (start === null || facts === undefined) return undefined
  const data = contentAt(text, start[0].length, 'data')
  if (data === undefined || text[data.end] !== ',') return undefined
  const metadata = contentAt(text, data.end + 1, 'metadata')
  if (metadata === undefined) return undefined
  const rest = text.slice(metadata.end)
  const exact = rest === '}' ? {} : parsed(/^,"exact":(\{.*\})\}$/s.exec(rest)?.[1])
  if (exact === undefined) return undefined
  return {
    id: String(facts.id),
    stream: String(facts.stream),
    revision: BigInt(String(facts.revision)),
    type: String(facts.type),
    data: bytesOf(data, exact.data),
    metadata: bytesOf(metadata, exact.metadata),
  }
}

type Content = { readonly text: string; readonly isBase64: boolean; readonly end: number }

function contentAt(text: string, from: number, name: string): Content | undefined {
  for (const isBase64 of [false, true]) {
    const start = `"${name}${isBase64 ? '_base64' : ''}":`
    if (!text.startsWith(start, from)) continue
    const at = from + start.length
    const end = endOfValue(text, at)
    const value = text.slice(at, end)
    return { text: isBase64 ? value.slice(1, -1) : value, isBase64, end }
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

function bytesOf({ text, isBase64 }: Content, exact: unknown): Uint8Array {
  if (typeof exact === 'string') return Buffer.from(exact, 'base64')
  return Buffer.from(text, isBase64 ? 'base64' : 'utf8')
}

function parsed(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = text === undefined ? undefined : JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
