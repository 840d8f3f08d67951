// The command line, for running the server by hand: every flag sets an environment variable.
import { statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ConfigError, loadConfig, readVariableFiles } from '@paylog/runtime/config/environment'
import { bool, integer, linesOf, port, text, url } from '@paylog/runtime/config/kinds'
import { logLevels } from '@paylog/runtime/process/lifecycle'
import { Type } from 'typebox'
import { defaultMaxAppendBytes } from './embeddedEventStore.ts'

/** EventStoreDB's limit; Postgres accepts the statement of such a commit. */
const largestMaxAppendBytes = 16 << 20

const flags = {
  host: { type: 'string', variable: 'HOST' },
  port: { type: 'string', variable: 'PORT' },
  'database-url': { type: 'string', variable: 'DATABASE_URL' },
  'max-append-bytes': { type: 'string', variable: 'MAX_APPEND_BYTES' },
  credentials: { type: 'string', variable: 'EVENTSTORE_CREDENTIALS_FILE' },
  insecure: { type: 'boolean', variable: 'INSECURE' },
  'log-level': { type: 'string', variable: 'LOG_LEVEL' },
} as const

export const usage = `Usage: npm run event-store -- [OPTIONS]

An event store for one machine, with EventStoreDB's protocol, that keeps its log in Postgres.

  --database-url URL      Postgres, as postgres://user:password@host:port/database; required
  --port N                port to listen on; 0 selects a free port (2113)
  --host ADDRESS          address to listen on (127.0.0.1)
  --credentials FILE      allowed credentials: one user:password per line, readable by its owner only; default: no login
  --insecure              allow a --host that other machines can reach, although there is no TLS
  --max-append-bytes N    maximum size of an append (${defaultMaxAppendBytes})
  --log-level LEVEL       ${logLevels.join(', ')}
  --help                  show this text

Each flag can be set by an environment variable instead, which keeps a password out of the process list:
${Object.values(flags)
  .map(({ variable }) => variable)
  .join(', ')}. A flag takes precedence over its variable.`

export type CommandLine =
  | { readonly kind: 'run'; readonly environment: Readonly<Record<string, string>> }
  | { readonly kind: 'help' }
  | { readonly kind: 'wrong'; readonly problem: string }

/**
 * Parses the arguments.
 * @returns for a run, the variables that were given as flags, which override the environment
 */
export function readCommandLine(args: readonly string[]): CommandLine {
  const options = { ...flags, help: { type: 'boolean', short: 'h' } } as const
  try {
    const { values } = parseArgs({ args: [...args], options, strict: true, allowPositionals: false })
    if (values.help) return { kind: 'help' }
    const environment: Record<string, string> = {}
    for (const [name, value] of Object.entries(values)) environment[variableOf(name)] = String(value)
    const level = values['log-level']
    // Checked here, because the log level is read before the other settings.
    if (level !== undefined && !logLevels.some((known) => known === level)) {
      return { kind: 'wrong', problem: `--log-level must be one of ${logLevels.join(', ')}` }
    }
    return { kind: 'run', environment }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    // Node adds sentences about positional arguments and dashes.
    return { kind: 'wrong', problem: problem.split(/\.\s/)[0] ?? problem }
  }
}

const variableOf = (flag: string) => Object.entries(flags).find(([name]) => name === flag)?.[1].variable ?? flag

const Settings = Type.Object({
  HOST: text('127.0.0.1'),
  PORT: port(2113),
  DATABASE_URL: url(['postgres', 'postgresql']),
  MAX_APPEND_BYTES: integer(1, largestMaxAppendBytes, defaultMaxAppendBytes),
  EVENTSTORE_CREDENTIALS: Type.Optional(linesOf(/^[^:]+:.+$/, 'lines of user:password')),
  INSECURE: bool(false),
})

/**
 * Decodes the environment.
 * @param given the variables that were given as flags; error messages name the flag
 * @throws ConfigError that lists all invalid settings, including a non-loopback host without `--insecure`, and a credentials
 *   file that others can read
 */
export function loadSettings(environment: NodeJS.ProcessEnv, given: Readonly<Record<string, string>>) {
  const { env, problems } = readVariableFiles(environment, (name) => name in Settings.properties)
  const host = env.HOST || '127.0.0.1'
  const isAllowed = env.INSECURE === 'true'
  const exposed = isAllowed || isLoopback(host) ? [] : [`HOST ${exposedHost}`]
  const isOpen = problems.length === 0 && isReadByOthers(environment.EVENTSTORE_CREDENTIALS_FILE)
  const shown = isOpen ? [`EVENTSTORE_CREDENTIALS_FILE ${openFile}`] : []
  try {
    return loadConfig(Settings, env, [...problems, ...exposed, ...shown])
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(error.problems.map((problem) => nameAsGiven(problem, given)))
  }
}

const exposedHost =
  'can be reached by other machines, and there is no TLS: choose 127.0.0.1, or allow it with --insecure'

const openFile = 'names a file that other accounts can read: chmod 600 it'

function isReadByOthers(file = ''): boolean {
  const { mode } = statSync(file, { throwIfNoEntry: false }) ?? { mode: 0 }
  return process.platform !== 'win32' && (mode & 0o077) !== 0
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

function nameAsGiven(problem: string, given: Readonly<Record<string, string>>): string {
  const flag = Object.entries(flags).find(([, { variable }]) => problem.startsWith(`${variable} `))
  if (flag === undefined || !(flag[1].variable in given)) return problem
  return `--${flag[0]}${problem.slice(flag[1].variable.length)}`
}

/** The connection string for a server that listens on `host`. Clients do not support IPv6 addresses, only names. */
export function connectionStringOf(host: string, listeningPort: number): string {
  const names: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': 'localhost', '::1': 'localhost' }
  return `esdb://${names[host] ?? host}:${listeningPort}?tls=false`
}
