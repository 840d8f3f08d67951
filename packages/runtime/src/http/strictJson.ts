// JSON as this service accepts it: what Postgres, other parsers or a reader could take differently is refused.
import { DomainError } from '@paylog/domain/errors'

const maxDepth = 32

/**
 * Parses JSON and refuses what `JSON.parse` lets through: duplicate keys, `__proto__`, nesting beyond 32, numbers beyond
 * a double, integers that a double cannot hold, and NUL or unpaired surrogates in text (Postgres stores neither, and one such event would stop a projector).
 *
 * @throws DomainError `invalid_request`; its message never quotes the text
 */
export function parseStrictJson(text: string): unknown {
  if (!text.isWellFormed()) throw invalidBody('The body is not well-formed text')
  const value = parse(text)
  // The grammar is settled now, so the scan below only has to tell strings, brackets and numbers apart.
  scan(text)
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalidBody('The body is not valid JSON', error)
  }
}

function scan(text: string): void {
  // One entry per open bracket: the keys seen so far in an object, null in an array.
  const open: (Set<string> | null)[] = []
  let expectsKey = false
  let position = 0
  while (position < text.length) {
    const character = text[position]
    if (character === '"') {
      const end = endOfString(text, position)
      const content = stringContent(text.slice(position, end))
      if (expectsKey) addKey(open.at(-1), content)
      expectsKey = false
      position = end
      continue
    }
    if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : null)
      if (open.length > maxDepth) throw invalidBody(`The body is nested deeper than ${maxDepth} levels`)
      expectsKey = character === '{'
    } else if (character === '}' || character === ']') {
      open.pop()
      expectsKey = false
    } else if (character === ',') {
      expectsKey = open.at(-1) instanceof Set
    } else if (character !== undefined && /[-0-9]/.test(character)) {
      position = endOfNumber(text, position)
      continue
    }
    position += 1
  }
}

function addKey(keys: Set<string> | null | undefined, key: string): void {
  if (!keys) return
  if (key === '__proto__') throw invalidBody('The body contains a forbidden key')
  if (keys.has(key)) throw invalidBody('The body contains a duplicate key')
  keys.add(key)
}

function endOfString(text: string, start: number): number {
  let position = start + 1
  while (text[position] !== '"') position += text[position] === '\\' ? 2 : 1
  return position + 1
}

function stringContent(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1)
  const content = String(JSON.parse(literal))
  if (content.includes('\0')) throw invalidBody('Text in the body contains a NUL character')
  if (!content.isWellFormed()) throw invalidBody('Text in the body contains an unpaired surrogate')
  return content
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && /[-+.eE0-9]/.test(text.charAt(end))) end += 1
  const literal = text.slice(start, end)
  const number = Number(literal)
  // JSON.parse reads 1e999 as Infinity, which JSON.stringify would write back as null.
  if (!Number.isFinite(number)) throw invalidBody('The body contains a number out of range')
  // It reads 9007199254740993 as its neighbour: what is stored would not be what was sent.
  if (/^-?\d+$/.test(literal) && !Number.isSafeInteger(number))
    throw invalidBody('The body contains an integer that is too large to be kept exactly')
  return end
}

function invalidBody(message: string, cause?: unknown): DomainError {
  return new DomainError('invalid_request', message, undefined, { cause })
}
