// The process: either supervised and configured by its environment, or run by hand with flags.
import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js'
import { variableOfFile } from '@paylog/runtime/config/environment'
import { isDatabaseUnavailable } from '@paylog/runtime/postgres/databaseErrors'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { connectionStringOf, loadSettings, readCommandLine, usage } from './commandLine.ts'
import { startEmbeddedEventStore } from './embeddedEventStore.ts'

const name = 'embedded-event-store'
const exitUsage = 2
const commandLine = readCommandLine(process.argv.slice(2))

switch (commandLine.kind) {
  case 'help':
    process.stdout.write(`${usage}\n`)
    break
  case 'wrong':
    process.stderr.write(`${name}: ${commandLine.problem}\n\n${usage}\n`)
    process.exitCode = exitUsage
    break
  case 'run':
    run(commandLine.environment)
}

function run(given: Readonly<Record<string, string>>): void {
  const isTerminal = process.stdout.isTTY === true
  // biome-ignore lint/style/noProcessEnv: flags override variables, including the log level, which is read first.
  const environment = process.env
  for (const name of Object.keys(given)) {
    delete environment[`${name}_FILE`]
    delete environment[variableOfFile(name) ?? '']
  }
  Object.assign(environment, given)
  // On a terminal, one line with the address replaces the info log.
  if (isTerminal && !environment.LOG_LEVEL && !environment.LOG_LEVEL_FILE) environment.LOG_LEVEL = 'warn'
  // Errors reach us anyway; grpc-js would write its own lines between ours.
  setLogVerbosity(logVerbosity.NONE)
  runApp(name, async ({ log, lifecycle }) => {
    const settings = loadSettings(environment, given)
    const node = await startEmbeddedEventStore({
      host: settings.HOST,
      port: settings.PORT,
      databaseUrl: settings.DATABASE_URL,
      maxAppendBytes: settings.MAX_APPEND_BYTES,
      credentials: settings.EVENTSTORE_CREDENTIALS ?? [],
      log,
      fail: lifecycle.fail,
    }).catch(explain)
    lifecycle.add(name, node.stop, node.inFlight)
    if (isTerminal) process.stdout.write(`The event store is at ${connectionStringOf(settings.HOST, node.port)}\n`)
    return { port: node.port }
  })
}

function explain(error: unknown): never {
  if (!isDatabaseUnavailable(error)) throw error
  const reason = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error
  const detail = reason instanceof Error ? reason.message : String(reason)
  throw new Error(`Postgres cannot be reached: ${detail}`, { cause: error })
}
