// The operator API as a plugin: for administrators, with access to the log and to Postgres as the owner of the tables.

import { recordRequests } from '@paylog/commands/auditTrail'
import { createActivityRecorder } from '@paylog/commands/provider-activity/activity'
import { enabledProviders, knownProviders } from '@paylog/commands/provider-calls/enabledProviders'
import { createEventStore } from '@paylog/event-store/eventStore'
import { configuredIdentity } from '@paylog/identity/identity'
import type { PersonalDataKeys } from '@paylog/privacy/dataKeys'
import { administratorLists } from '@paylog/queries/administratorLists'
import { createReadAfter } from '@paylog/queries/readAfter'
import { type Callers, createCallers } from '@paylog/runtime/http/callers'
import { guardRoutes } from '@paylog/runtime/http/guardRoutes'
import { listFiles } from '@paylog/runtime/http/listFiles'
import { createPool } from '@paylog/runtime/postgres/pool'
import type { Health } from '@paylog/runtime/process/health'
import type { Lifecycle } from '@paylog/runtime/process/lifecycle'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { listSettings } from '@paylog/webhooks/deliveries/operations/deliveryList'
import type { FastifyPluginAsync } from 'fastify'
import { createAttention } from './attention/attention.ts'
import { attentionRoutes } from './attention/routes.ts'
import type { OperatorConfig } from './config.ts'
import { consolePlugin } from './console/consolePlugin.ts'
import { proofRoutes } from './events/proofRoutes.ts'
import { eventRoutes } from './events/routes.ts'
import { createJobs } from './jobs/jobs.ts'
import { jobRoutes } from './jobs/routes.ts'
import { meRoutes } from './me/routes.ts'
import { privacyRoutes } from './privacy/routes.ts'
import { projectionRoutes } from './projections/routes.ts'
import { providerRoutes } from './providers/routes.ts'
import type { OperatorDependencies } from './routeSchemas.ts'
import { startPagePlugin } from './start/startPage.ts'
import { systemRoutes } from './system/routes.ts'
import { createSystem } from './system/system.ts'
import { deliveryRoutes } from './webhooks/deliveryRoutes.ts'
import { backfillRoutes, enableRoutes, redeliverRoutes } from './webhooks/endpointActions.ts'
import { endpointRoutes } from './webhooks/endpointRoutes.ts'
import { endpointStatisticsRoute } from './webhooks/endpointStatistics.ts'
import { endpointTestRoute } from './webhooks/testRoute.ts'

type Routes = (dependencies: OperatorDependencies) => FastifyPluginAsync

const resources: readonly Routes[] = [
  meRoutes,
  attentionRoutes,
  providerRoutes,
  systemRoutes,
  projectionRoutes,
  jobRoutes,
  eventRoutes,
  proofRoutes,
  endpointRoutes,
  endpointStatisticsRoute,
  enableRoutes,
  redeliverRoutes,
  backfillRoutes,
  endpointTestRoute,
  deliveryRoutes,
  privacyRoutes,
]

/**
 * The routes of all resources, for administrators only, and the lists of the read side, which are sent as files here. Register it on an instance of `createHttp`, which validates requests
 * and formats errors.
 */
export function operatorApi(dependencies: OperatorDependencies, callers: Callers): FastifyPluginAsync {
  return async (http) => {
    const { pool, filePool } = dependencies
    const record = recordRequests(dependencies)
    guardRoutes(http, callers, record)
    listFiles(http, { pool: filePool, record })
    await http.register(administratorLists({ db: pool, readAfter: createReadAfter(pool) }))
    for (const routes of resources) await http.register(routes(dependencies))
  }
}

const maxConnections = 8
/** Files in progress, of everybody. */
const maxFiles = 4
/** How long a request waits for a database that does not respond. */
const responseTimeoutMs = 5_000

/** Counting and sorting all rows may take longer than a page. */
const fileSettings = { ...listSettings, statement_timeout: 60_000 } as const

/**
 * Builds the plugin, with the console and the start page, from the configuration. The lifecycle closes its connections after the server that uses them.
 * @param parts `app` is the name of this process, as the system page shows it
 */
export function wireOperatorApi(
  config: OperatorConfig,
  {
    app,
    keys,
    log,
    lifecycle,
    health,
  }: {
    readonly app: string
    readonly keys: PersonalDataKeys
    readonly log: Logger
    readonly lifecycle: Lifecycle
    readonly health: Health
  },
): FastifyPluginAsync {
  const { DATABASE_URL: databaseUrl, endpoints } = config
  const pool = createPool({
    databaseUrl,
    applicationName: 'operator-api',
    max: maxConnections,
    queryTimeoutMs: responseTimeoutMs,
    settings: listSettings,
    log,
  })
  lifecycle.add('postgres', () => pool.end())
  const files = { applicationName: 'operator-api file', max: maxFiles, settings: fileSettings }
  const filePool = createPool({ databaseUrl, ...files, log })
  lifecycle.add('postgres for files', () => filePool.end())
  // In `api`, the store of the command API reports what happens to the event store.
  const reports = app === 'api' ? {} : { log }
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL, keys, ...reports })
  lifecycle.add('event store', () => store.close())
  const identity = configuredIdentity(config)
  lifecycle.add('identity', () => identity.close())
  const jobs = createJobs({ pool, log })
  // Before what they use is closed, and after the server that starts them.
  lifecycle.add('jobs', () => jobs.stop(lifecycle.givingUp), jobs.inFlight)
  // In `api` these replace the checks of the same names of the other two APIs: one check of each backend is enough.
  health.check('postgres', async () => {
    await pool.query('select 1')
    return {}
  })
  health.check('event_store', async () => {
    const head = await store.head()
    return { head: head?.commit.toString() ?? null }
  })
  const callers = createCallers(identity.actorOf)
  const system = createSystem({ app, health, others: config.HEALTH_URLS })
  const projects = { projectId: config.PROJECT_ID, projectIds: config.PROJECT_IDS }
  const backfills = { projects, keepMs: config.WEBHOOK_LOG_RETENTION }
  const now = () => new Date()
  const activity = createActivityRecorder({ db: pool, now, log })
  lifecycle.add('provider activity', () => activity.close())
  const openProviders = () => enabledProviders(config, activity.called)
  const providers = knownProviders(config)
  const attention = createAttention({ db: pool, endpoints, providers, now, log })
  const dependencies = {
    ...{
      databaseUrl,
      pool,
      filePool,
      store,
      keys,
      openProviders,
      providers,
      endpoints,
      backfills,
      jobs,
      system,
      attention,
      log,
      now,
    },
  }
  return async (http) => {
    await http.register(operatorApi(dependencies, callers))
    await http.register(consolePlugin({ sessionCookie: config.CONSOLE_SESSION_COOKIE !== undefined }))
    await http.register(startPagePlugin({ config, system, startPage: config.START_PAGE }))
  }
}
