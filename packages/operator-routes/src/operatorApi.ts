// The operator API as a plugin: for administrators, with access to the log and to Postgres as the owner of the tables.
import { createEventStore } from '@paylog/event-store/eventStore'
import { configuredIdentity } from '@paylog/identity/identity'
import { createCallers } from '@paylog/runtime/http/callers'
import { createPool } from '@paylog/runtime/postgres/pool'
import type { Health } from '@paylog/runtime/process/health'
import type { Lifecycle } from '@paylog/runtime/process/lifecycle'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import type { FastifyPluginAsync } from 'fastify'
import type { OperatorConfig } from './config.ts'
import { eventRoutes } from './events/routes.ts'
import { createJobs } from './jobs/jobs.ts'
import { jobRoutes } from './jobs/routes.ts'
import type { OperatorDependencies } from './routeSchemas.ts'

type Routes = (dependencies: OperatorDependencies) => FastifyPluginAsync

const resources: readonly Routes[] = [jobRoutes, eventRoutes]

/** The routes of all resources. Register it on an instance of `createHttp`, which validates requests and formats errors. */
export function operatorApi(dependencies: OperatorDependencies): FastifyPluginAsync {
  return async (http) => {
    for (const routes of resources) await http.register(routes(dependencies))
  }
}

const maxConnections = 8
/** How long a request waits for a database that does not respond. */
const responseTimeoutMs = 5_000

/** Builds the plugin from the configuration. The lifecycle closes its connections after the server that uses them. */
export function wireOperatorApi(
  config: OperatorConfig,
  {
    log,
    lifecycle,
    health,
  }: { readonly log: Logger; readonly lifecycle: Lifecycle; readonly health: Health; readonly metrics: Metrics },
): FastifyPluginAsync {
  const pool = createPool({
    databaseUrl: config.DATABASE_URL,
    applicationName: 'operator-api',
    max: maxConnections,
    queryTimeoutMs: responseTimeoutMs,
    log,
  })
  lifecycle.add('postgres', () => pool.end())
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL })
  lifecycle.add('event store', () => store.close())
  const identity = configuredIdentity(config)
  lifecycle.add('identity', () => identity.close())
  const jobs = createJobs({ pool, log })
  // Before what they use is closed, and after the server that starts them.
  lifecycle.add('jobs', () => jobs.stop(lifecycle.givingUp), jobs.inFlight)
  // Beside another API, which checks the same backends under the same names, one of the checks counts.
  health.check('postgres', async () => {
    await pool.query('select 1')
    return {}
  })
  health.check('event_store', async () => {
    const head = await store.head()
    return { head: head?.commit.toString() ?? null }
  })
  const { administrator } = createCallers(identity.actorOf)
  return operatorApi({ pool, store, administrator, endpoints: config.endpoints, jobs, now: () => new Date() })
}
