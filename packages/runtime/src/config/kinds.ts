// Schema builders for environment variables: port, duration, URL, list and so on.
import { parseDurationMs } from '@paylog/domain/duration'
import { Type } from 'typebox'

/** The message is the rest of a sentence that begins with the variable's name, and never holds the value. */
export class BadVariable extends Error {
  override readonly name = 'BadVariable'
}

/** A TCP port; 0 is any free one. */
export function port(defaultPort?: number) {
  return variable(defaultPort, (text) => wholeNumber(text, 0, 65_535, 'must be a port number from 0 to 65535'))
}

/** A whole number within bounds, both included. */
export function integer(min: number, max: number, defaultValue?: number) {
  return variable(defaultValue, (text) => wholeNumber(text, min, max, `must be a whole number from ${min} to ${max}`))
}

/** `true` or `false`. Anything else is an error: reading "yes" or "1" as false would silently switch off safeguards. */
export function bool(defaultValue?: boolean) {
  return variable(defaultValue, (text) => {
    if (text !== 'true' && text !== 'false') throw new BadVariable('must be true or false')
    return text === 'true'
  })
}

/** Any text that is not empty. */
export function text(defaultValue?: string) {
  return variable(defaultValue, (value) => value)
}

/** What a reader returns. It throws BadVariable for a mistake. */
export function readBy<Value>(read: (text: string) => Value, defaultValue?: string) {
  return variable(defaultValue, read)
}

/** What a parser returns; undefined is a mistake. `expected` follows "must be" in the message. */
export function parsed<Value>(parse: (text: string) => Value | undefined, expected: string, defaultValue?: string) {
  return variable(defaultValue, (text) => {
    const value = parse(text)
    if (value === undefined) throw new BadVariable(`must be ${expected}`)
    return value
  })
}

/** Text of a form. `expected` follows "must be" in the message. */
export function matching(pattern: RegExp, expected: string) {
  return parsed((text) => (pattern.test(text) ? text : undefined), expected)
}

/** One of these words. */
export function oneOf<const Word extends string>(words: readonly Word[], defaultValue?: NoInfer<Word>) {
  return variable(defaultValue, (value) => {
    const word = words.find((candidate) => candidate === value)
    if (word === undefined) throw new BadVariable(`must be one of ${words.join(', ')}`)
    return word
  })
}

/** A URL with one of the schemes, such as `url(['http', 'https'])`. Decodes to the unchanged text. */
export function url(schemes: readonly string[], defaultValue?: string) {
  const expected = `must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`
  return variable(defaultValue, (value) => {
    const scheme = URL.canParse(value) ? new URL(value).protocol.slice(0, -1) : undefined
    if (scheme === undefined || !schemes.includes(scheme)) throw new BadVariable(expected)
    return value
  })
}

/** Scheme, host and port of an HTTP service, without a path. Decodes to the text without a trailing slash. */
export function origin(defaultValue?: string) {
  return variable(defaultValue, (value) => {
    if (!isOrigin(value)) throw new BadVariable('must be a URL such as https://api.example.com, without a path')
    return new URL(value).origin
  })
}

/** Whether this is scheme, host and port of an HTTP service, without a path. */
export function isOrigin(value: string): boolean {
  const parsed = URL.canParse(value) ? new URL(value) : undefined
  const isBare = parsed !== undefined && `${parsed.origin}/` === parsed.href
  // `*.example.com` is a valid host name, but is always meant as a wildcard, which we do not support.
  return isBare && ['http:', 'https:'].includes(parsed.protocol) && !value.includes('*')
}

/** A duration: `500ms`, `5s`, `2m`, `1h`, or a bare number of milliseconds. Decodes to milliseconds. */
export function durationMs(defaultValue?: string | number) {
  return variable(defaultValue, boundedDurationMs)
}

/** A maximum age: a duration up to `3650d`, longer than a timer can be. Decodes to milliseconds. */
export function ageMs(defaultValue?: string) {
  return variable(defaultValue, (value) => boundedAgeMs(value, 'a duration'))
}

/** A maximum age, or this word. Decodes to milliseconds or the word. */
export function ageMsOr<const Word extends string>(word: Word, defaultValue?: string) {
  return variable(defaultValue, (value) => (value === word ? word : boundedAgeMs(value, `${word} or a duration`)))
}

/** Comma-separated words. Spaces around them and empty words are dropped. */
export function commaList(defaultValue?: readonly string[]) {
  return variable(defaultValue?.join(','), splitAtCommas)
}

/** Comma-separated words that each pass a check. `expected` follows "must be" in the message. */
export function listOf(isItem: (word: string) => boolean, expected: string, defaultValue?: readonly string[]) {
  return variable(defaultValue?.join(','), (value) => {
    const words = splitAtCommas(value)
    if (!words.every(isItem)) throw new BadVariable(`must be ${expected}`)
    return words
  })
}

/** Lines that each match. `expected` follows "must be" in the message. One trailing newline is dropped. */
export function linesOf(line: RegExp, expected: string) {
  return variable(undefined, (value) => {
    const lines = value.replace(/\r?\n$/, '').split(/\r?\n/)
    if (!lines.every((each) => line.test(each))) throw new BadVariable(`must be ${expected}`)
    return lines
  })
}

// setTimeout takes 32 bits; a longer delay would fire immediately.
const maxDurationMs = 2 ** 31 - 1
const maxAgeMs = 3_650 * 24 * 3_600_000

function boundedDurationMs(value: string): number {
  const durationMs = parseDurationMs(value)
  if (durationMs === undefined) throw new BadVariable('must be a duration such as 500ms, 5s, 2m or 1h')
  if (durationMs > maxDurationMs) throw new BadVariable('must be a duration of at most 596h')
  return durationMs
}

function boundedAgeMs(value: string, expected: string): number {
  const ms = parseDurationMs(value)
  if (ms === undefined || ms > maxAgeMs) throw new BadVariable(`must be ${expected} such as 36h or 90d, at most 3650d`)
  return ms
}

function wholeNumber(value: string, min: number, max: number, expected: string): number {
  const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN
  if (!(number >= min && number <= max)) throw new BadVariable(expected)
  return number
}

function splitAtCommas(value: string): readonly string[] {
  return value
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

// The default is stored as an operator would write it, so that it goes through the same decoder.
function variable<Value>(defaultValue: string | number | boolean | undefined, decode: (text: string) => Value) {
  return Type.Decode(
    defaultValue === undefined ? Type.String() : Type.String({ default: String(defaultValue) }),
    decode,
  )
}
