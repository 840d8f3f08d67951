// Decodes an app's environment once, at start, with one schema.
import { readFileSync } from 'node:fs'
import { parseDurationMs } from '@paylog/domain/duration'
import { type StaticDecode, type TObject, type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'

/** The environment does not say what the app needs. Its message is one line for the operator and never shows a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** One sentence per bad variable; each begins with the variable's name. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`Bad configuration: ${problems.join('; ')}`)
    this.problems = problems
  }
}

/**
 * Reads the variables that are kept in files, as secrets are: `NAME_FILE` is the path of a file with the value of `NAME`. One
 * newline at its end is dropped. An empty file is refused: a secret that is missing must not look like one that is not set.
 *
 * @param isVariable which names may be given so
 * @returns the environment with their values instead of their paths, and one sentence, which begins with a variable's name,
 *   per file that cannot be used or is given beside its variable; neither path nor content is in it
 */
export function readVariableFiles(
  env: NodeJS.ProcessEnv,
  isVariable: (name: string) => boolean,
): { readonly env: NodeJS.ProcessEnv; readonly problems: readonly string[] } {
  const read: NodeJS.ProcessEnv = { ...env }
  const problems: string[] = []
  for (const [fileVariable, path] of Object.entries(env)) {
    const name = variableOfFile(fileVariable)
    if (name === undefined || !isVariable(name)) continue
    delete read[fileVariable]
    if (!path) continue
    if (env[name]) problems.push(`${name} and ${fileVariable} are both set`)
    else {
      const { value, problem } = contentOf(path)
      if (problem === undefined) read[name] = value
      else problems.push(`${fileVariable} ${problem}`)
    }
  }
  return { env: read, problems }
}

/** Lays some variables over an environment: none is given both by value and by file after that. */
export function withOverrides(env: NodeJS.ProcessEnv, overrides: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOverridden = (name: string) => `${name}_FILE` in overrides || (variableOfFile(name) ?? name) in overrides
  return { ...Object.fromEntries(Object.entries(env).filter(([name]) => !isOverridden(name))), ...overrides }
}

/** @returns `NAME` for `NAME_FILE`, nothing for other names */
export function variableOfFile(fileVariable: string): string | undefined {
  return /^(.+)_FILE$/.exec(fileVariable)?.[1]
}

function contentOf(path: string): { readonly value?: string; readonly problem?: string } {
  try {
    const value = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    return value === '' ? { problem: 'names an empty file' } : { value }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown'
    return { problem: `names a file that cannot be read (${code})` }
  }
}

/**
 * Decodes the environment. An empty variable counts as unset; an unset one takes its schema's default. Each variable may be
 * kept in a file instead; see `readVariableFiles`.
 *
 * @param schema one `Type.Object` per app, made of the builders of this file; a variable without a default is required unless `Type.Optional`
 * @param env the environment, `process.env` in `main.ts`
 * @param furtherProblems what was found wrong by other means, to be told in the same message
 * @returns the decoded values, frozen
 * @throws ConfigError naming every bad variable and what is expected of it, never the value that was given, which may be a secret
 */
export function loadConfig<T extends TObject>(
  schema: T,
  // biome-ignore lint/style/noProcessEnv: here, and only here, the environment enters; every main.ts calls this once.
  env: NodeJS.ProcessEnv = process.env,
  furtherProblems: readonly string[] = [],
): Readonly<StaticDecode<T>> {
  const given = readVariableFiles(env, (name) => name in schema.properties)
  const problems = [...given.problems]
  const values: Record<string, unknown> = {}
  for (const [name, variable] of Object.entries(schema.properties)) {
    const raw = given.env[name] === '' ? undefined : given.env[name]
    const text = raw ?? defaultOf(variable)
    if (text === undefined) {
      if (schema.required?.includes(name)) problems.push(`${name} is required`)
      continue
    }
    try {
      values[name] = freeze(Value.Decode(variable, text))
    } catch (error) {
      problems.push(`${name} ${error instanceof BadVariable ? error.message : 'is invalid'}`)
    }
  }
  problems.push(...furtherProblems)
  if (problems.length > 0) throw new ConfigError(eachOnce(problems))
  // The keys were just walked off the schema itself, so this is the one place where its static type is claimed.
  return Object.freeze(values) as Readonly<StaticDecode<T>>
}

/** A variable whose file cannot be used has said so; it is not missing as well. */
function eachOnce(problems: readonly string[]): readonly string[] {
  const variableIn = (problem: string) => problem.split(' ', 1)[0] ?? ''
  const named = new Set(problems.map(variableIn))
  return [...new Set(problems)].filter((problem) => !named.has(`${variableIn(problem)}_FILE`))
}

/** A TCP port, 0 meaning any free one. */
export function port(defaultPort?: number) {
  return variable(defaultPort, (text) => wholeNumber(text, 0, 65_535, 'must be a port number from 0 to 65535'))
}

/** A whole number within bounds, both included. */
export function integer(min: number, max: number, defaultValue?: number) {
  return variable(defaultValue, (text) => wholeNumber(text, min, max, `must be a whole number from ${min} to ${max}`))
}

/** `true` or `false`. Nothing else: "yes" or "1" silently read as false has switched off too many safeguards elsewhere. */
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

/** One of a few words. */
export function oneOf<const Word extends string>(words: readonly Word[], defaultValue?: NoInfer<Word>) {
  return variable(defaultValue, (value) => {
    const word = words.find((candidate) => candidate === value)
    if (word === undefined) throw new BadVariable(`must be one of ${words.join(', ')}`)
    return word
  })
}

/** A URL of one of the given schemes, written without the colon: `url(['http', 'https'])`. Decodes to the text as it was given. */
export function url(schemes: readonly string[], defaultValue?: string) {
  const expected = `must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`
  return variable(defaultValue, (value) => {
    const scheme = URL.canParse(value) ? new URL(value).protocol.slice(0, -1) : undefined
    if (scheme === undefined || !schemes.includes(scheme)) throw new BadVariable(expected)
    return value
  })
}

/** Where an HTTP service is: scheme, host and port, without a path. Decodes to the text without a final slash. */
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
  // A host may be called *.example.com, but whoever writes it means all hosts below.
  return isBare && ['http:', 'https:'].includes(parsed.protocol) && !value.includes('*')
}

/** A duration: `500ms`, `5s`, `2m`, `1h`, or a bare number of milliseconds. Decodes to milliseconds. */
export function durationMs(defaultValue?: string | number) {
  return variable(defaultValue, boundedDurationMs)
}

/** How old something may get: a duration up to `3650d`, because nobody sleeps that long. Decodes to milliseconds. */
export function ageMs(defaultValue?: string) {
  return variable(defaultValue, (value) => {
    const ms = parseDurationMs(value)
    if (ms === undefined || ms > maxAgeMs) throw new BadVariable('must be a duration such as 36h or 90d, at most 3650d')
    return ms
  })
}

/** Comma-separated words. Spaces around them and empty words are dropped. */
export function commaList(defaultValue?: readonly string[]) {
  return variable(defaultValue?.join(','), splitAtCommas)
}

/** Comma-separated words that each pass a check; `expected` completes the sentence "must be …". */
export function listOf(isItem: (word: string) => boolean, expected: string, defaultValue?: readonly string[]) {
  return variable(defaultValue?.join(','), (value) => {
    const words = splitAtCommas(value)
    if (!words.every(isItem)) throw new BadVariable(`must be ${expected}`)
    return words
  })
}

/** Comma-separated durations. */
export function durationListMs(defaultValue?: readonly (string | number)[]) {
  return variable(defaultValue?.join(','), (value) => splitAtCommas(value).map(boundedDurationMs))
}

// Its message completes the sentence that begins with the variable's name.
class BadVariable extends Error {
  override readonly name = 'BadVariable'
}

// setTimeout takes 32 bits; a longer delay would fire at once.
const maxDurationMs = 2 ** 31 - 1
const maxAgeMs = 3_650 * 24 * 3_600_000

function boundedDurationMs(value: string): number {
  const durationMs = parseDurationMs(value)
  if (durationMs === undefined) throw new BadVariable('must be a duration such as 500ms, 5s, 2m or 1h')
  if (durationMs > maxDurationMs) throw new BadVariable('must be a duration of at most 596h')
  return durationMs
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

// The default is kept in the form in which an operator would write it, so it goes through the same decoder.
function variable<Value>(defaultValue: string | number | boolean | undefined, decode: (text: string) => Value) {
  return Type.Decode(
    defaultValue === undefined ? Type.String() : Type.String({ default: String(defaultValue) }),
    decode,
  )
}

function defaultOf(schema: TSchema): string | undefined {
  return 'default' in schema && typeof schema.default === 'string' ? schema.default : undefined
}

function freeze(value: unknown): unknown {
  return Array.isArray(value) ? Object.freeze(value) : value
}
