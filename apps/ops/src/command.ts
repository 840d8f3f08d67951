// What a command is, and how its arguments are read.
import type { Readable, Writable } from 'node:stream'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Print } from './printTo.ts'
import type { CliProgressOutput } from './progress.ts'

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
  /** What an operator wants to know before calling it, for its help. */
  readonly details?: string
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
