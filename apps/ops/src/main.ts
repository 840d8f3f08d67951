// `npm run -s ops -- …`: the operators' and auditors' command line.
import { ConfigError } from '@paylog/runtime/config'
import { type Command, OpsError, UsageError } from './command.ts'
import { migrateTables } from './migrate.ts'
import { paymentsReconcile } from './payments/reconcile.ts'
import { type Print, printTo } from './printTo.ts'
import { productsImport } from './products/import.ts'
import { completeEnvironment, findRunningSystem } from './runningSystem.ts'
import { sandboxSettle } from './sandbox/settle.ts'
import { streamsCopy } from './streams/copy.ts'
import { streamsRead } from './streams/read.ts'
import { webhooksBackfill } from './webhooks/backfill.ts'
import { webhooksEnable } from './webhooks/enable.ts'
import { webhooksList } from './webhooks/list.ts'
import { webhooksRedeliver } from './webhooks/redeliver.ts'

// biome-ignore lint/style/noProcessEnv: a running system completes it before it is decoded.
const given = process.env
const call = 'npm run -s ops --'
const commands: readonly Command[] = [
  streamsRead,
  streamsCopy,
  paymentsReconcile,
  productsImport,
  sandboxSettle,
  webhooksList,
  webhooksRedeliver,
  webhooksBackfill,
  webhooksEnable,
  migrateTables,
]

const exitFailed = 1
const exitUsage = 2

async function run(args: readonly string[]): Promise<number> {
  const command = commands.find(({ name }) => name.split(' ').every((word, index) => args[index] === word))
  if (command === undefined) return explain(args)
  const print = printTo(process.stdout)
  const rest = args.slice(command.name.split(' ').length)
  if (rest.includes('--help') || rest.includes('-h')) {
    await print([usage(command), ...(command.details === undefined ? [] : ['', command.details])].join('\n'))
    return 0
  }
  try {
    await runBeside(command, rest, print)
    return 0
  } catch (error) {
    complain(messageOf(error))
    if (error instanceof OpsError) return error.exitCode
    if (!(error instanceof UsageError)) return exitFailed
    complain(usage(command))
    return exitUsage
  }
}

async function runBeside(command: Command, args: readonly string[], print: Print): Promise<void> {
  const { directory, runtime } = findRunningSystem(given)
  try {
    await command.run(args, { environment: completeEnvironment(given, runtime), print })
  } catch (error) {
    if (!(error instanceof ConfigError) || runtime !== undefined) throw error
    throw new OpsError(
      `${error.message} (no local system runs on ${directory}; if one runs elsewhere, set DATA_DIR as it has it)`,
      { cause: error },
    )
  }
}

/** The answer to half a command, an unknown one, and a cry for help: all commands, or those of the group that was named. */
function explain(args: readonly string[]): number {
  const wantsHelp = args.length === 0 || args[0] === 'help' || args.some((arg) => ['--help', '-h'].includes(arg))
  const group = commands.filter(({ name }) => name.startsWith(`${args[0]} `))
  const help = [
    `Usage: ${call} COMMAND`,
    '',
    ...(group.length > 0 ? group : commands).flatMap(({ name, usage: rest, summary }) => [
      `  ${name} ${rest}`,
      `      ${summary}`,
    ]),
    '',
    'COMMAND --help says more of some.',
    'Beside a running local system it finds everything by itself (DATA_DIR, default .data);',
    'elsewhere it takes the same environment as the apps.',
  ].join('\n')
  if (!wantsHelp && group.length === 0) complain(`Unknown command: ${args.join(' ')}`)
  else if (!wantsHelp && args[1] !== undefined) complain(`There is no ${args[0]} ${args[1]}.`)
  if (args.length > 0 && wantsHelp) process.stdout.write(`${help}\n`)
  else complain(help)
  return args.length > 0 && wantsHelp ? 0 : exitUsage
}

const usage = ({ name, usage: rest }: Command) => `Usage: ${call} ${name} ${rest}`

/** Whoever reads the output may leave, as `head` does: what is under way goes on without it. */
function outliveReaders(): void {
  for (const output of [process.stdout, process.stderr]) {
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
}

const complain = (text: string) => void process.stderr.write(`${text}\n`)

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A refused connection is an AggregateError of one per address, without a message of its own.
  const reason = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error
  // A mistake of ours is one of the language's own errors, and its stack helps; the rest comes from outside.
  const isMistake = reason instanceof TypeError || reason instanceof ReferenceError || reason instanceof RangeError
  return isMistake ? (reason.stack ?? reason.message) : reason.message
}

outliveReaders()
process.exitCode = await run(process.argv.slice(2))
