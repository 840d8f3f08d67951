// Runs the command that a command line names, and prints help.
import type { Readable, Writable } from 'node:stream'
import { ConfigError } from '@paylog/runtime/config/environment'
import manifest from '../package.json' with { type: 'json' }
import { type CliCommand, type CommandContext, messageOf, OpsError, UsageError } from './command.ts'
import { printTo } from './printTo.ts'
import { completeEnvironment, findRunningSystem } from './runningSystem.ts'

export const commands: Readonly<Record<string, () => Promise<CliCommand>>> = {
  'streams read': async () => (await import('./streams/read.ts')).streamsRead,
  'streams export': async () => (await import('./streams/export.ts')).streamsExport,
  'streams verify-export': async () => (await import('./streams/verifyExport.ts')).streamsVerifyExport,
  'streams copy': async () => (await import('./streams/copy.ts')).streamsCopy,
  'streams grant': async () => (await import('./streams/grant.ts')).streamsGrant,
  'payments list': async () => (await import('./payments/list.ts')).paymentsList,
  'payments show': async () => (await import('./payments/show.ts')).paymentsShow,
  'payments refund': async () => (await import('./payments/refund.ts')).paymentsRefund,
  'payments cancel': async () => (await import('./payments/change.ts')).paymentsCancel,
  'payments capture': async () => (await import('./payments/change.ts')).paymentsCapture,
  'payments refresh': async () => (await import('./payments/change.ts')).paymentsRefresh,
  'payments reconcile': async () => (await import('./payments/reconcile.ts')).paymentsReconcile,
  'projections list': async () => (await import('./projections/list.ts')).projectionsList,
  'projections rebuild': async () => (await import('./projections/rebuild.ts')).projectionsRebuild,
  'projections verify': async () => (await import('./projections/verify.ts')).projectionsVerify,
  'projections prune': async () => (await import('./projections/prune.ts')).projectionsPrune,
  'audit verify': async () => (await import('./audit/verify.ts')).auditVerify,
  'audit prove payment': async () => (await import('./audit/provePayment.ts')).auditProvePayment,
  'audit check-proof': async () => (await import('./audit/checkProof.ts')).auditCheckProof,
  'audit consistency': async () => (await import('./audit/consistency.ts')).auditConsistency,
  'audit restart': async () => (await import('./audit/restart.ts')).auditRestart,
  'audit key': async () => (await import('./audit/key.ts')).auditKey,
  'providers check': async () => (await import('./providers/check.ts')).providersCheck,
  'products import': async () => (await import('./products/import.ts')).productsImport,
  'sandbox settle': async () => (await import('./sandbox/commands.ts')).sandboxSettle,
  'sandbox approve': async () => (await import('./sandbox/commands.ts')).sandboxApprove,
  'sandbox refund': async () => (await import('./sandbox/commands.ts')).sandboxRefund,
  'sandbox dispute': async () => (await import('./sandbox/commands.ts')).sandboxDispute,
  'webhooks list': async () => (await import('./webhooks/list.ts')).webhooksList,
  'webhooks redeliver': async () => (await import('./webhooks/redeliver.ts')).webhooksRedeliver,
  'webhooks backfill': async () => (await import('./webhooks/backfill.ts')).webhooksBackfill,
  'webhooks enable': async () => (await import('./webhooks/enable.ts')).webhooksEnable,
  'webhooks start': async () => (await import('./webhooks/start.ts')).webhooksStart,
  'privacy erase': async () => (await import('./privacy/erase.ts')).privacyErase,
  'privacy export': async () => (await import('./privacy/export.ts')).privacyExport,
  'privacy list': async () => (await import('./privacy/list.ts')).privacyList,
  'privacy replay': async () => (await import('./privacy/replay.ts')).privacyReplay,
  'privacy rotate': async () => (await import('./privacy/rotate.ts')).privacyRotate,
  'privacy scrub': async () => (await import('./privacy/scrub.ts')).privacyScrub,
  migrate: async () => (await import('./migrate.ts')).migrateTables,
}

const call = 'npm run -s ops --'
const exitFailed = 1
const exitUsage = 2

/** The environment and streams of the process, or of a test. */
export type CommandLineContext = {
  readonly environment: NodeJS.ProcessEnv
  readonly input: Readable
  readonly output: Writable
  readonly errors: CommandContext['errors']
}

/** @returns the exit code; errors are printed to `errors` */
export async function runCommandLine(given: readonly string[], context: CommandLineContext): Promise<number> {
  const args = withPresentName(given[0] === 'help' ? [...given.slice(1), '--help'] : given)
  if (args.includes('--version')) {
    await printTo(context.output)(`paylog ${manifest.version}`)
    return 0
  }
  const printError = (text: string) => void context.errors.write(`${text}\n`)
  const called = Object.entries(commands).find(([name]) => name.split(' ').every((word, index) => args[index] === word))
  if (called === undefined) return explain(args, context, printError)
  const [name, load] = called
  const command = await load()
  const print = printTo(context.output)
  const rest = args.slice(name.split(' ').length)
  if (rest.includes('--help') || rest.includes('-h')) {
    await print([usage(name, command), '', `${command.summary}.`, '', command.details].join('\n'))
    return 0
  }
  try {
    await runCommand(command, rest, { ...context, print })
    return 0
  } catch (error) {
    printError(messageOf(error))
    if (error instanceof OpsError) return error.exitCode
    if (!(error instanceof UsageError)) return exitFailed
    printError(usage(name, command))
    return exitUsage
  }
}

/** Scripts may call `payments show` by its earlier name, `payment show`. */
function withPresentName([group, name, ...rest]: readonly string[]): readonly string[] {
  if (group === 'payment' && name === 'show') return ['payments', name, ...rest]
  return [group, name, ...rest].filter((arg) => arg !== undefined)
}

async function runCommand(command: CliCommand, args: readonly string[], given: CommandContext): Promise<void> {
  const { directory, runtime } = findRunningSystem(given.environment)
  try {
    await command.run(args, { ...given, environment: completeEnvironment(given.environment, runtime) })
  } catch (error) {
    const isUnset = error instanceof ConfigError && error.problems.some((problem) => problem.endsWith(' is required'))
    if (!isUnset || runtime !== undefined) throw error
    throw new OpsError(
      `${error.message} (no local system runs on ${directory}; if it runs on another directory, set DATA_DIR)`,
      { cause: error },
    )
  }
}

/** Prints help for all commands or one group: for --help, an incomplete and an unknown command. */
async function explain(
  args: readonly string[],
  { output }: CommandLineContext,
  printError: (text: string) => void,
): Promise<number> {
  const wantsHelp = args.length === 0 || args.some((arg) => ['--help', '-h'].includes(arg))
  const all = await Promise.all(Object.entries(commands).map(async ([name, load]) => ({ name, ...(await load()) })))
  const group = all.filter(({ name }) => name.startsWith(`${args[0]} `))
  const help = [
    `Usage: ${call} COMMAND`,
    '',
    ...(group.length > 0 ? group : all).flatMap(({ name, usage: rest, summary }) => [
      `  ${name} ${rest}`,
      `      ${summary}`,
    ]),
    '',
    'Run COMMAND --help for the options of a command, --version for the version of Paylog.',
    'With a running local system (npm start) no configuration is needed; DATA_DIR selects it (default .data).',
    'Elsewhere, set the same environment variables as for the apps.',
  ].join('\n')
  if (!wantsHelp && group.length === 0) printError(`Unknown command: ${args.join(' ')}`)
  else if (!wantsHelp && args[1] !== undefined) printError(`Unknown command: ${args[0]} ${args[1]}`)
  if (args.length > 0 && wantsHelp) output.write(`${help}\n`)
  else printError(help)
  return args.length > 0 && wantsHelp ? 0 : exitUsage
}

const usage = (name: string, { usage: rest }: CliCommand) => `Usage: ${call} ${name} ${rest}`.trimEnd()
