// The type of a command, and what it throws.
import type { Readable, Writable } from 'node:stream'
import { parseDurationMs } from '@paylog/domain/duration'
import { DomainError } from '@paylog/domain/errors'
import { Instant } from '@paylog/domain/fields'
import { databaseAdvice } from '@paylog/runtime/postgres/databaseErrors'
import { Value } from 'typebox/value'
import type { Print } from './printTo.ts'
import type { CliProgressOutput } from './progressLine.ts'

const instantMs = (text: string) => (Value.Check(Instant, text) ? Date.parse(text) : Number.NaN)

export type CommandContext = {
  /** The operator's environment, completed by a running local system. */
  readonly environment: NodeJS.ProcessEnv
  /** Writes one line of output. */
  readonly print: Print
  /** The stream that `print` writes to, to find out whether its reader has gone. */
  readonly output: Writable
  /** For progress, warnings and errors. */
  readonly errors: Writable & CliProgressOutput
  readonly input: Readable
}

export type CliCommand = {
  /** The arguments, after the name of the command. */
  readonly usage: string
  readonly summary: string
  /** The rest of the help: one line for each option of `usage`, what the command does, and its exit codes. */
  readonly details: string
  /** @throws UsageError, OpsError, ConfigError, DomainError: the operator sees their message */
  readonly run: (args: readonly string[], context: CommandContext) => Promise<void>
}

/** The exit code of "no": a comparison or a proof failed, or nothing is known of a person. Scripts tell it from an error. */
export const exitDifferent = 3

/** An invalid command line: prints the usage, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A command that failed for a known reason: only the message is printed. */
export class OpsError extends Error {
  override readonly name = 'OpsError'
  readonly exitCode: number

  /** @param options.exitCode other than 1 when scripts need to distinguish the reason */
  constructor(message: string, { exitCode = 1, ...options }: ErrorOptions & { readonly exitCode?: number } = {}) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/** The message of an error for the operator, with the stack for errors in our own code. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof DomainError) return `${error.message} (${[error.code, ...detailsOf(error)].join(', ')})`
  // A rejected connection is an AggregateError with one error per address and without a message.
  const reason = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error
  // Errors of the language are bugs, and their stack helps. All others come from outside.
  const isBug = reason instanceof TypeError || reason instanceof ReferenceError || reason instanceof RangeError
  return isBug ? (reason.stack ?? reason.message) : (databaseAdvice(reason) ?? reason.message)
}

const detailsOf = ({ details = {} }: DomainError) =>
  Object.entries(details).flatMap(([name, value]) => (typeof value === 'object' ? [] : [`${name} ${value}`]))

/**
 * Reads `--since` and similar options.
 * @param text `2026-11-01T00:00:00Z`, or a duration such as `90m`, `24h` or `7d`
 * @param now the time that a duration is subtracted from, in ms
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
  if (time > now) throw new UsageError(`${option} is in the future`)
  return time
}

/** Unlike durations of the configuration, these need a unit and may be in days. */
function agoMs(text: string): number | undefined {
  const days = /^(\d{1,5})d$/.exec(text)?.[1]
  if (days !== undefined) return parseDurationMs(`${Number(days) * 24}h`)
  return /\d$/.test(text) ? undefined : parseDurationMs(text)
}
