// The operator API as a plugin: for administrators, with access to the log and to Postgres as the owner of the tables.

import { recordRequests } from '@paylog/commands/auditTrail'
import { enabledProviders } from '@paylog/commands/provider-calls/enabledProviders'
import { createEventStore } from '@paylog/event-store/eventStore'
import { configuredIdentity } from '@paylog/identity/identity'
import type { PersonalDataKeys } from '@paylog/privacy/dataKeys'
import { type Callers, createCallers } from '@paylog/runtime/http/callers'
import { guardRoutes } from '@paylog/runtime/http/guardRoutes'
import { createPool } from '@paylog/runtime/postgres/pool'
import type { Health } from '@paylog/runtime/process/health'
import type { Lifecycle } from '@paylog/runtime/process/lifecycle'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { listSettings } from '@paylog/webhooks/deliveries/operations/deliveryList'
import type { FastifyPluginAsync } from 'fastify'
import type { OperatorConfig } from './config.ts'
import { consolePlugin } from './console/consolePlugin.ts'
import { eventRoutes } from './events/routes.ts'
import { createJobs } from './jobs/jobs.ts'
import { jobRoutes } from './jobs/routes.ts'
import { privacyRoutes } from './privacy/routes.ts'
import { projectionRoutes } from './projections/routes.ts'
import type { OperatorDependencies } from './routeSchemas.ts'
import { startPagePlugin } from './start/startPage.ts'
import { systemRoutes } from './system/routes.ts'
import { createSystem } from './system/system.ts'
import { deliveryRoutes } from './webhooks/deliveryRoutes.ts'
import { backfillRoutes, enableRoutes, redeliverRoutes } from './webhooks/endpointActions.ts'
import { endpointRoutes } from './webhooks/endpointRoutes.ts'

type Routes = (dependencies: OperatorDependencies) => FastifyPluginAsync

const resources: readonly Routes[] = [
  systemRoutes,
  projectionRoutes,
  jobRoutes,
  eventRoutes,
  endpointRoutes,
  enableRoutes,
  redeliverRoutes,
  backfillRoutes,
  deliveryRoutes,
  privacyRoutes,
]

/**
 * The routes of all resources, for administrators only. Register it on an instance of `createHttp`, which validates requests
 * and formats errors.
 */
export function operatorApi(dependencies: OperatorDependencies, callers: Callers): FastifyPluginAsync {
  return async (http) => {
    guardRoutes(http, callers, recordRequests(dependencies))
    for (const routes of resources) await http.register(routes(dependencies))
  }
}

const maxConnections = 8
/** How long a request waits for a database that does not respond. */
const responseTimeoutMs = 5_000

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
  const openProviders = () => enabledProviders(config)
  const dependencies = {
    ...{ databaseUrl, pool, store, keys, openProviders, endpoints, backfills, jobs, system, log, now },
  }
  return async (http) => {
    await http.register(operatorApi(dependencies, callers))
    await http.register(consolePlugin({ sessionCookie: config.CONSOLE_SESSION_COOKIE !== undefined }))
    await http.register(startPagePlugin({ config, system, startPage: config.START_PAGE }))
  }
}
