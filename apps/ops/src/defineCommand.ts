// What all commands have in common: options, help, Ctrl-C, progress, the audit trail, and how a result is printed.
import { createApi } from './api.ts'
import { type Audit, createRecorder, operatorMetadata, reasonOption } from './auditTrail.ts'
import { type CliCommand, type CommandContext, OpsError } from './command.ts'
import {
  type CommandLine,
  flag,
  type NoOptions,
  type Options,
  optionsHelp,
  readCommandLine,
  usageOf,
} from './options.ts'
import { createProgressLine, type ProgressLine } from './progressLine.ts'
import { createSystem, type System } from './system.ts'
import { withInterrupt } from './withInterrupt.ts'

export type Definition<Names extends readonly string[], Given extends Options> = {
  readonly summary: string
  /** The names of the positional arguments. A last one that ends with `…` stands for any number of them. */
  readonly args?: Names
  readonly options?: Given
  /** Only where options depend on each other. */
  readonly usage?: string
  /** The option with the reason for the audit trail, if the command is recorded there. */
  readonly audited?: 'reason' | 'audit-reason'
  /** What `--json` prints. Without it the command has no such option. */
  readonly json?: string
  /** The rest of the help: what the command does, and its exit codes. */
  readonly about?: readonly string[]
  /**
   * Ctrl-C aborts the signal of the call; without this it ends the process. `finishes`: the command returns what it has done so
   * far. Any other text is the message of a command that fails after Ctrl-C.
   */
  readonly onInterrupt?: 'finishes' | `Interrupted${string}`
  /** @throws UsageError, OpsError, ConfigError, DomainError: the operator sees their message */
  readonly run: (call: Call<Names, Given>) => Promise<Result | undefined>
}

/** What a command prints at its end. */
export type Result = {
  readonly json?: unknown
  readonly text?: string
  /** Goes to standard error, and the command fails. */
  readonly problem?: string | undefined
  readonly exitCode?: number
}

/** One run of a command. */
export type Run = CommandContext & {
  /** Whether `--json` is given. */
  readonly isJson: boolean
  /** For the audit trail. */
  readonly reason: string | null
  readonly signal: AbortSignal
  readonly open: System
  /** `print` makes room for its lines. */
  readonly progress: ProgressLine
  readonly audit: Audit
  /** Registers routes of the API in this process. */
  readonly api: ReturnType<typeof createApi>
}
export type Call<Names extends readonly string[], Given extends Options> = Run & CommandLine<Names, Given>

export function defineCommand<const Names extends readonly string[] = [], Given extends Options = NoOptions>(
  definition: Definition<Names, Given>,
): CliCommand {
  const { summary, audited, json, about = [], onInterrupt } = definition
  const names: readonly string[] = definition.args ?? []
  // With those that the frame itself reads.
  const options = {
    ...definition.options,
    ...(audited && { [audited]: reasonOption }),
    ...(json && { json: flag(json) }),
  } as Given
  const help = optionsHelp(options)
  return {
    usage: definition.usage ?? usageOf(names, options),
    summary,
    details: [...help, ...(help.length > 0 && about.length > 0 ? [''] : []), ...about].join('\n'),
    async run(given, context) {
      const commandLine = readCommandLine<Names, Given>(given, names, options)
      const call = (signal: AbortSignal) => runOnce(definition, commandLine, { ...context, signal })
      await (onInterrupt === undefined ? call(new AbortController().signal) : withInterrupt(context.errors, call))
    },
  }
}

async function runOnce<Names extends readonly string[], Given extends Options>(
  { run, audited, onInterrupt = 'finishes' }: Definition<Names, Given>,
  commandLine: CommandLine<Names, Given>,
  context: CommandContext & { readonly signal: AbortSignal },
): Promise<void> {
  const { environment, errors, signal } = context
  const options: Readonly<Record<string, unknown>> = commandLine.options
  const isJson = options.json === true
  const given = audited && options[audited]
  const reason = typeof given === 'string' ? given : null
  const open = createSystem(environment, errors)
  const progress = createProgressLine(errors)
  async function print(line: string): Promise<void> {
    progress.clear()
    await context.print(line)
  }
  const record = createRecorder({ errors, open, reason })
  const ends: Awaited<ReturnType<typeof record>>[] = []
  const audit: Audit = async (action) => void ends.push(await record(action, operatorMetadata()))
  const api = createApi(open, record)
  const call = { ...context, ...commandLine, print, isJson, reason, open, progress, audit, api }
  try {
    const result = await run(call).catch((cause: unknown) => {
      const isOver = signal.aborted && onInterrupt !== 'finishes'
      throw isOver ? new OpsError(onInterrupt, { cause }) : cause
    })
    for (const end of ends) await end('done')
    progress.end()
    const text = isJson ? JSON.stringify(result?.json) : result?.text
    if (text !== undefined) await context.print(text)
    if (result?.problem !== undefined) throw new OpsError(result.problem, { exitCode: result.exitCode ?? 1 })
  } finally {
    progress.end()
    await open.close()
  }
}
