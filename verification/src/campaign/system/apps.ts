// The apps of a campaign's system as supervised processes.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { withoutLimits } from '@paylog/testing/processes'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import type { PartLink } from './partLinks.ts'
import { type AppName, type AppPart, appNames, appParts, type ServerName } from './parts.ts'
import type { CampaignPostgres } from './postgres.ts'
import { type Command, type SupervisedProcess, superviseProcess } from './supervisedProcess.ts'

export type Apps = {
  readonly processes: Map<AppName, SupervisedProcess>
  /** The command of an app in a checkout of the repository. */
  commandOf(name: AppName, root: string): Command
  /** Starts an app from this checkout, beside one of the same name that may run. */
  start(name: AppName): SupervisedProcess
  /** Runs a command of `ops` as the owner of the tables. @returns its output when it does not exit with 0 */
  ops(env: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<string | undefined>
}

type Options = {
  /** For what the apps write. */
  readonly directory: string
  readonly logs: string
  /** More variables of all apps. */
  readonly env: Readonly<Record<string, string>>
  readonly postgres: CampaignPostgres
  readonly links: readonly PartLink[]
  readonly portOf: (name: AppName) => number
  /** The connection string to the event store through the port of a link; 0: there is none. */
  readonly eventStoreUrl: (port: number) => string
  /** Whether the embedded event store runs. */
  readonly withOwnStore: boolean
}

const run = promisify(execFile)
export const ownRoot = fileURLToPath(new URL('../../../../', import.meta.url))
const rolePassword = 'made-up'
const clock = new URL('clock.ts', import.meta.url)

/** Creates the tables and starts all apps, twice, so that later starts find a compile cache. */
export async function startApps(stack: AsyncDisposableStack, options: Options): Promise<Apps> {
  const { directory, logs, env, postgres, withOwnStore } = options
  const common = {
    PATH: process.env.PATH ?? '',
    NODE_COMPILE_CACHE: join(directory, 'compiled'),
    ...moduleLoading,
    HOST: '127.0.0.1',
    PII_MASTER_KEY: testMasterKey,
    LOG_LEVEL: 'warn',
    ...withoutLimits,
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: '0',
    // A busy machine is not a fault of the system.
    SHED_EVENT_LOOP_DELAY: '0',
    ...env,
    NODE_OPTIONS: [moduleLoading.NODE_OPTIONS, env.NODE_OPTIONS, `--import=${clock.href}`].filter(Boolean).join(' '),
  }
  const runOps = (words: readonly string[], more: Readonly<Record<string, string>>) =>
    run(process.execPath, [join(ownRoot, 'apps/ops/src/main.ts'), ...words], {
      env: { ...common, DATABASE_URL: postgres.urlAt(postgres.port()), DATA_DIR: directory, ...more },
      maxBuffer: 64 * 2 ** 20,
    })
  await createRoles(postgres)
  await runOps(['migrate'], { READER_ROLE: 'paylog_reader', KEYS_ROLE: 'paylog_keys' })
  const commandOf = (name: AppName, root: string): Command => ({
    words: [process.execPath, join(root, appParts[name].script)],
    directory: root,
    env: { ...common, ...variablesOf(name, options) },
  })
  const processes = new Map<AppName, SupervisedProcess>()
  const start = (name: AppName) => {
    const command = commandOf(name, ownRoot)
    const app = superviseProcess(stack, name, { command, logFile: join(logs, `${name}.log`) })
    processes.set(name, app)
    return app
  }
  for (const name of appNames.filter((each) => each !== 'event-store' || withOwnStore)) {
    start(name)
    if (name === 'identity') await untilReady(processes)
  }
  await untilReady(processes)
  // Only a process that ends in order writes the compile cache, and starts without it take twice as long.
  for (const app of processes.values()) app.kill('SIGTERM')
  await untilReady(processes)
  return {
    processes,
    commandOf,
    start,
    ops: (env, ...words) =>
      runOps(words, env).then(
        () => undefined,
        (error: { readonly stdout?: string; readonly stderr?: string }) =>
          `${error.stdout}${error.stderr}`.slice(-2_000),
      ),
  }
}

const untilReady = (processes: ReadonlyMap<AppName, SupervisedProcess>) =>
  Promise.all([...processes.values()].map((each) => each.untilReady()))

function variablesOf(name: AppName, { links, postgres, portOf, eventStoreUrl }: Options): Record<string, string> {
  const part: AppPart = appParts[name]
  const own = links.filter(({ from }) => from === name)
  const portTo = (server: ServerName) => own.find(({ to }) => to === server)?.link.port ?? 0
  return {
    ...(part.role && { DATABASE_URL: asRole(postgres.urlAt(portTo('postgres')), part.role) }),
    EVENTSTORE_URL: eventStoreUrl(portTo('event-store')),
    AUTH_URL: `http://127.0.0.1:${portTo('identity')}`,
    ...(portTo('redis') !== 0 && { REDIS_URL: `redis://127.0.0.1:${portTo('redis')}` }),
    PORT: String(portOf(name)),
    HEALTH_PORT: String(portOf(name)),
    ...Object.fromEntries(own.flatMap(({ variable }) => (variable ? [variable] : []))),
  }
}

function asRole(databaseUrl: string, role: NonNullable<AppPart['role']>): string {
  const login = role === 'paylog' ? {} : { username: role, password: rolePassword }
  return Object.assign(new URL(databaseUrl), login).href
}

/** Creates the roles of deploy/postgres/roles.sql beside the owner, who is there already. */
async function createRoles(postgres: CampaignPostgres): Promise<void> {
  for (const [group, login] of [
    ['paylog_reader', 'paylog_query'],
    ['paylog_keys', 'paylog_command'],
  ]) {
    await postgres.administer(`create role ${group} nologin`)
    await postgres.administer(`create role ${login} login password '${rolePassword}' in role ${group}`)
    await postgres.administer(`grant connect on database paylog to ${group}`)
  }
  await postgres.administer('alter role paylog_query set default_transaction_read_only = on')
}
