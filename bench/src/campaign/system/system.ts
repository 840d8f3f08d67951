// Starts the system of a campaign in the form of production: processes apart, an edge and Redis where they are installed, and a
// network link between any two parts.
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { newSigningKey } from '@paylog/audit-log/note'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { freePort, withoutLimits } from '@paylog/testing/processes'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import { temporaryDirectory } from '../../harness/privatePostgres.ts'
import { canMountDisk, type Disk, mountDisk } from './disk.ts'
import type { Link } from './link.ts'
import { linkParts, pointLinks } from './partLinks.ts'
import { type AppName, type AppPart, appNames, appParts, type ServerName } from './parts.ts'
import { type CampaignPostgres, startCampaignPostgres } from './postgres.ts'
import { superviseEdge, superviseRedis } from './servers.ts'
import { type Command, type SupervisedProcess, superviseProcess } from './supervisedProcess.ts'

export type CampaignSystem = {
  /** Of the edge, or where there is none of each API. */
  readonly urls: { readonly command: string; readonly query: string; readonly operator: string }
  /** For auditors: the log, the published checkpoints (a directory), and the key that verifies them. */
  readonly audit: { readonly eventStore: string; readonly checkpoints: string; readonly verifierKey: string }
  /** All processes that may be killed or frozen, with the edge and Redis. */
  processes(): readonly SupervisedProcess[]
  readonly apps: ReadonlyMap<AppName, SupervisedProcess>
  readonly links: readonly Link[]
  readonly postgres: CampaignPostgres
  readonly disk: Disk | undefined
  /** Deletes all data of Redis. */
  readonly emptyRedis: (() => Promise<void>) | undefined
  /** Starts a second event store, which takes over from the first. */
  replaceEventStore(): Promise<void>
  /** Starts all apps from another checkout of this repository, one after the other; without one from this. */
  upgradeTo(root?: string): Promise<void>
  /** The health page of each app. */
  readonly healthUrls: ReadonlyMap<string, string>
  /** What cannot be done here, and what it takes. */
  readonly missing: readonly string[]
}

const run = promisify(execFile)
const ownRoot = fileURLToPath(new URL('../../../../', import.meta.url))
const rolePassword = 'made-up'
const clock = new URL('clock.ts', import.meta.url).pathname

/** @param env more variables of all apps: the providers and the webhook endpoints */
export async function startCampaignSystem(
  stack: AsyncDisposableStack,
  env: Readonly<Record<string, string>>,
): Promise<CampaignSystem> {
  const directory = await temporaryDirectory(stack)
  const [logs, checkpoints] = [join(directory, 'logs'), join(directory, 'checkpoints')]
  for (const path of [logs, checkpoints]) await mkdir(path)
  // Postgres runs as another user.
  await run('chmod', ['755', directory])
  const disk = canMountDisk ? await mountDisk(stack, directory) : undefined
  const postgres = await startCampaignPostgres(stack, {
    directory: join(disk?.directory ?? directory, 'postgres'),
    logs,
  })
  const redis = await superviseRedis(stack, { directory, logs })
  const ports = new Map<string, number>([['redis', redis?.port ?? 0]])
  for (const name of appNames) ports.set(name, await freePort())
  const portOf = (name: AppName | 'redis') => ports.get(name) ?? 0
  const links = await linkParts(stack, env, (server) => (server === 'postgres' ? postgres.port() : portOf(server)))
  pointLinks(links)

  const { signingKey, verifierKey } = newSigningKey('paylog.example.com/campaign')
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
    AUDIT_SIGNING_KEY: signingKey,
    AUDIT_CHECKPOINT_INTERVAL: '2s',
    AUDIT_CHECKPOINT_URL: pathToFileURL(checkpoints).href,
    ...env,
    NODE_OPTIONS: [moduleLoading.NODE_OPTIONS, env.NODE_OPTIONS, `--import=${clock}`].filter(Boolean).join(' '),
  }
  /** The command of an app in a checkout of the repository. */
  const commandOf = (name: AppName, root: string): Command => {
    const part: AppPart = appParts[name]
    const own = links.filter(({ from }) => from === name)
    const portTo = (server: ServerName) => own.find(({ to }) => to === server)?.link.port ?? 0
    return {
      words: [process.execPath, join(root, part.script)],
      directory: root,
      env: {
        ...common,
        ...(part.role && { DATABASE_URL: asRole(postgres.urlAt(portTo('postgres')), part.role) }),
        EVENTSTORE_URL: `esdb://127.0.0.1:${portTo('event-store')}?tls=false`,
        AUTH_URL: `http://127.0.0.1:${portTo('identity')}`,
        ...(redis && part.servers.includes('redis') && { REDIS_URL: `redis://127.0.0.1:${portTo('redis')}` }),
        PORT: String(portOf(name)),
        HEALTH_PORT: String(portOf(name)),
        ...Object.fromEntries(own.flatMap(({ variable }) => (variable ? [variable] : []))),
      },
    }
  }
  await createRoles(postgres)
  await run(process.execPath, [join(ownRoot, 'apps/ops/src/main.ts'), 'migrate'], {
    env: {
      ...common,
      DATABASE_URL: postgres.urlAt(postgres.port()),
      READER_ROLE: 'paylog_reader',
      KEYS_ROLE: 'paylog_keys',
    },
  })
  const apps = new Map<AppName, SupervisedProcess>()
  const start = (name: AppName) =>
    superviseProcess(stack, name, { command: commandOf(name, ownRoot), logFile: join(logs, `${name}.log`) })
  for (const name of appNames) {
    apps.set(name, start(name))
    if (name === 'identity') await untilReady([...apps.values()])
  }
  await untilReady([...apps.values()])
  // Only a process that ends in order writes the compile cache, and starts without it take twice as long.
  for (const app of apps.values()) app.kill('SIGTERM')
  await untilReady([...apps.values()])

  const edge = await superviseEdge(stack, { directory, logs, root: ownRoot, links, portOf })
  const url = (name: AppName) => `http://127.0.0.1:${portOf(name)}`
  const entrance = (name: AppName) => edge?.url ?? url(name)
  const servers = [edge?.process, redis?.process].filter((server) => server !== undefined)
  let root = ownRoot
  return {
    urls: { command: entrance('command-api-1'), query: entrance('query-api'), operator: entrance('operator-api') },
    audit: { eventStore: `esdb://127.0.0.1:${portOf('event-store')}?tls=false`, checkpoints, verifierKey },
    apps,
    processes: () => [...apps.values(), ...servers, postgres.process()],
    links: links.map(({ link }) => link),
    postgres: {
      ...postgres,
      async failOver() {
        await postgres.failOver()
        pointLinks(links)
      },
    },
    disk,
    emptyRedis: redis?.empty,
    async replaceEventStore() {
      const old = apps.get('event-store')
      ports.set('event-store', await freePort())
      const successor = start('event-store')
      apps.set('event-store', successor)
      await successor.untilReady()
      pointLinks(links)
      await old?.end()
    },
    async upgradeTo(next = ownRoot) {
      root = next
      for (const [name, app] of apps) await app.replace(commandOf(name, root))
    },
    healthUrls: new Map(
      appNames
        .filter((name) => !['event-store', 'identity'].includes(name))
        .map((name) => [name, `${url(name)}/health/ready`]),
    ),
    missing: [
      ...(edge ? [] : ['an edge: install caddy']),
      ...(redis ? [] : ['Redis: install redis-server']),
      ...(disk ? [] : ['a full disk: root on Linux']),
    ],
  }
}

const untilReady = (processes: readonly SupervisedProcess[]) => Promise.all(processes.map((each) => each.untilReady()))

function asRole(databaseUrl: string, role: NonNullable<AppPart['role']>): string {
  return role === 'paylog'
    ? databaseUrl
    : Object.assign(new URL(databaseUrl), { username: role, password: rolePassword }).href
}

/** The roles of deploy/postgres/roles.sql beside the owner, who is there already. */
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
