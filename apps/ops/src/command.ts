// What an operator is told of an error.

import type { Readable, Writable } from 'node:stream'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { parseDurationMs } from '@paylog/domain/duration'
import { Instant } from '@paylog/domain/fields'
import { databaseAdvice } from '@paylog/runtime/postgres/databaseErrors'
import { Value } from 'typebox/value'
import type { Print } from './printTo.ts'
import type { CliProgressOutput } from './progress.ts'

/** Its message; of a mistake of ours also where it was made. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A refused connection is an AggregateError of one per address, without a message of its own.
  const reason = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error
  // A mistake of ours is one of the language's own errors, and its stack helps; the rest comes from outside.
  const isMistake = reason instanceof TypeError || reason instanceof ReferenceError || reason instanceof RangeError
  return isMistake ? (reason.stack ?? reason.message) : (databaseAdvice(reason) ?? reason.message)
}

// `--since` and its like: a point in time, or how long ago it was.

/**
 * @param text `2026-11-01T00:00:00Z`, or a duration such as `90m`, `24h` or `7d`
 * @param now what a duration is counted back from, in ms
 * @param option its name, for messages
 * @returns ms since 1970
 * @throws UsageError
 */
export function readSince(text: string, now: number, option = '--since'): number {
  const ago = agoMs(text)
  const time = ago === undefined ? instantMs(text) : now - ago
  if (Number.isNaN(time))
    throw new UsageError(
      `${option} must be a time with an offset such as 2026-11-01T00:00:00Z, or a duration such as 24h`,
    )
  if (time > now) throw new UsageError(`${option} lies in the future`)
  return time
}

/** Durations of the configuration have a default unit and no days; here it is the other way round. */
function agoMs(text: string): number | undefined {
  const days = /^(\d{1,5})d$/.exec(text)?.[1]
  if (days !== undefined) return parseDurationMs(`${Number(days) * 24}h`)
  return /\d$/.test(text) ? undefined : parseDurationMs(text)
}

const instantMs = (text: string) => (Value.Check(Instant, text) ? Date.parse(text) : Number.NaN)

// What a command is, and how its arguments are read.

export type CommandContext = {
  /** The operator's environment, completed by a local system that runs beside. */
  readonly environment: NodeJS.ProcessEnv
  /** Writes one line of the answer. */
  readonly print: Print
  /** Where the answer goes: `print` writes there, and this tells whether anybody still reads it. */
  readonly output: Writable
  /** Where progress, warnings and complaints go. */
  readonly errors: Writable & CliProgressOutput
  readonly input: Readable
}

export type CliCommand = {
  /** What follows the words by which it is called. */
  readonly usage: string
  readonly summary: string
  /** The rest of its help: every option of `usage` on a line of its own, what it does, and its exit codes. */
  readonly details: string
  /** @throws UsageError, OpsError, ConfigError, DomainError: what the operator reads is their message */
  readonly run: (args: readonly string[], context: CommandContext) => Promise<void>
}

/** The command line cannot be understood: the usage is shown, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The command cannot do what it was asked for: its message is all that is shown. */
export class OpsError extends Error {
  override readonly name = 'OpsError'
  readonly exitCode: number

  /** @param options.exitCode another one than 1, where a script has to tell how it went */
  constructor(message: string, { exitCode = 1, ...options }: ErrorOptions & { readonly exitCode?: number } = {}) {
    super(message, options)
    this.exitCode = exitCode
  }
}

type ArgumentOptions = NonNullable<ParseArgsConfig['options']>

/**
 * Reads a command's options and exactly the given positional arguments.
 * @param positionals their names, for the message when one is missing
 * @throws UsageError
 */
export function readArguments<const Names extends readonly string[], const Given extends ArgumentOptions>(
  args: readonly string[],
  positionals: Names,
  options: Given,
) {
  const parsed = parse(args, options)
  const missing = positionals[parsed.positionals.length]
  if (missing !== undefined) throw new UsageError(`${missing} is missing`)
  const extra = parsed.positionals[positionals.length]
  if (extra !== undefined) throw new UsageError(`Unexpected argument: ${extra}`)
  return { values: parsed.values, positionals: parsed.positionals as { [Name in keyof Names]: string } }
}

/**
 * Reads a command's options and any number of positional arguments.
 * @throws UsageError
 */
export function readList<const Given extends ArgumentOptions>(args: readonly string[], options: Given) {
  return parse(args, options)
}

function parse<const Given extends ArgumentOptions>(args: readonly string[], options: Given) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/**
 * The number of an option.
 * @throws UsageError when it is not a whole number of at least `min`
 */
export function readCount(option: string, value: string | undefined, min: number): number | undefined {
  if (value === undefined) return undefined
  const count = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
  if (!(count >= min)) throw new UsageError(`${option} must be a whole number of at least ${min}`)
  return count
}
