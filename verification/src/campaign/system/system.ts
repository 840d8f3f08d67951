// Starts the system of a campaign in the form of production: processes apart, an edge and Redis where they are installed, and a
// network link between any two parts.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryDirectory } from '@paylog/bench/harness/privatePostgres'
import { freePort } from '@paylog/testing/processes'
import type { Urls } from '../judge/observations.ts'
import { ownRoot, startApps } from './apps.ts'
import { type FillableDisk, mountFillableDisk } from './disk.ts'
import type { Link } from './link.ts'
import { type EventStoreNodes, type EventStoreOptions, superviseNodes } from './nodes.ts'
import { linkParts, pointLinks } from './partLinks.ts'
import { type AppName, appNames } from './parts.ts'
import { type CampaignPostgres, startCampaignPostgres } from './postgres.ts'
import { superviseEdge, superviseRedis } from './servers.ts'
import type { SupervisedProcess } from './supervisedProcess.ts'

export type CampaignSystem = {
  /** Of the edge, or where there is none of each API; and of the event store of now, for auditors. */
  readonly urls: Urls
  /** All processes that may be killed or frozen, with the edge, Redis and Postgres, but without the nodes of a cluster. */
  processes(): readonly SupervisedProcess[]
  /** Of an event store that is a cluster. */
  readonly cluster: EventStoreNodes | undefined
  readonly apps: ReadonlyMap<AppName, SupervisedProcess>
  readonly links: readonly Link[]
  readonly postgres: CampaignPostgres
  readonly disk: FillableDisk | undefined
  /** Deletes all data of Redis. */
  readonly emptyRedis: (() => Promise<void>) | undefined
  /** Starts a second event store, which takes over from the first. */
  readonly replaceEventStore: (() => Promise<void>) | undefined
  /** Starts all apps from another checkout of this repository, one after the other; without one from this. */
  upgradeTo(root?: string): Promise<void>
  /** Runs a command of `ops`. @returns its output when it does not exit with 0 */
  ops(...words: readonly string[]): Promise<string | undefined>
  /** Of all processes. */
  readonly logs: string
  /** The health page of each app that has one. */
  readonly healthUrls: ReadonlyMap<string, string>
  /** What cannot be done here, and what it takes. */
  readonly missing: readonly string[]
}

const withoutHealthPage: readonly AppName[] = ['event-store', 'identity']

/**
 * @param options `env`: more variables of all apps, the providers and the webhook endpoints; `logs`: a directory for the logs of
 *   all processes; `without`: `edge` and `redis`, as if they were not installed; `eventStore`: another event store than the embedded one
 */
export async function startCampaignSystem(
  stack: AsyncDisposableStack,
  options: {
    readonly env: Readonly<Record<string, string>>
    readonly logs: string | undefined
    readonly without: readonly string[]
    readonly eventStore: EventStoreOptions | undefined
  },
): Promise<CampaignSystem> {
  const { env, eventStore, without } = options
  const directory = await temporaryDirectory(stack)
  const logs = options.logs ?? join(directory, 'logs')
  await mkdir(logs, { recursive: true })
  const disk = await mountFillableDisk(stack)
  const home = join(disk?.directory ?? directory, 'postgres')
  const postgres = await startCampaignPostgres(stack, { directory: home, logs })
  const redis = without.includes('redis') ? undefined : await superviseRedis(stack, { directory, logs })
  const nodes = eventStore && (await superviseNodes(stack, eventStore, { directory, logs }))
  const ports = new Map<string, number>([['redis', redis?.port ?? 0]])
  for (const name of appNames) ports.set(name, await freePort())
  // The nodes of a cluster name their own addresses, so there is no link to it.
  if (nodes !== undefined) ports.set('event-store', nodes.all.length === 1 ? (nodes.all[0]?.calls.port ?? 0) : 0)
  const portOf = (name: AppName | 'redis') => ports.get(name) ?? 0
  const links = await linkParts(stack, env, (server) => (server === 'postgres' ? postgres.port() : portOf(server)))
  pointLinks(links)
  const eventStoreUrl = (port = portOf('event-store')) =>
    eventStore === undefined ? `esdb://127.0.0.1:${port}?tls=false` : throughPort(eventStore.connectionString, port)
  const apps = await startApps(stack, {
    ...{ directory, logs, env, postgres, links, portOf, eventStoreUrl },
    withOwnStore: nodes === undefined,
  })
  const edge = without.includes('edge')
    ? undefined
    : await superviseEdge(stack, { directory, logs, root: ownRoot, links, portOf })
  const url = (name: AppName) => `http://127.0.0.1:${portOf(name)}`
  const isCluster = nodes !== undefined && nodes.all.length > 1
  const single = isCluster ? [] : (nodes?.all ?? []).map(({ process }) => process)
  const servers = [edge?.process, redis?.process].filter((server) => server !== undefined)
  const replaceEventStore = async () => {
    const old = apps.processes.get('event-store')
    ports.set('event-store', await freePort())
    // It starts again and again until the first has let go of the log.
    const successor = apps.start('event-store')
    await old?.end()
    await successor.untilReady()
    pointLinks(links)
  }
  return {
    urls: {
      command: edge ? [edge.url] : [url('command-api-1'), url('command-api-2')],
      query: edge?.url ?? url('query-api'),
      operator: edge?.url ?? url('operator-api'),
      get eventStore() {
        return eventStoreUrl()
      },
    },
    apps: apps.processes,
    processes: () => [...apps.processes.values(), ...single, ...servers, postgres.process()],
    cluster: isCluster ? nodes : undefined,
    links: links.map(({ link }) => link),
    postgres: { ...postgres, failOver: () => postgres.failOver().then(() => pointLinks(links)) },
    disk,
    emptyRedis: redis?.empty,
    replaceEventStore: nodes === undefined ? replaceEventStore : undefined,
    ops: (...words) => apps.ops({ EVENTSTORE_URL: eventStoreUrl() }, ...words),
    logs,
    async upgradeTo(root = ownRoot) {
      for (const [name, app] of apps.processes) await app.replace(apps.commandOf(name, root))
    },
    healthUrls: new Map(
      appNames.filter((name) => !withoutHealthPage.includes(name)).map((name) => [name, `${url(name)}/health/ready`]),
    ),
    missing: [
      ...(edge ? [] : ['an edge: install caddy']),
      ...(redis ? [] : ['Redis: install redis-server']),
      ...(disk ? [] : ['a full disk: root on Linux']),
      ...(isCluster ? ['networks between the apps and the event store: its nodes name their own addresses'] : []),
    ],
  }
}

/** @param port 0 for the hosts of the connection string */
const throughPort = (connectionString: string, port: number) =>
  port === 0
    ? connectionString
    : connectionString.replace(/^(?<head>[^:]+:\/\/(?:[^:@/]+:[^@]+@)?)[^/?]+/, `$<head>127.0.0.1:${port}`)
