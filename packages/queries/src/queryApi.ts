// The query API as a plugin: served by its own process, or beside the command API.

import { configuredIdentity } from '@paylog/identity/identity'
import { type ActorOf, createCallers } from '@paylog/runtime/http/callers'
import { guardRoutes } from '@paylog/runtime/http/guardRoutes'
import { createPool } from '@paylog/runtime/postgres/pool'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import { requireOwnSessions } from '@paylog/runtime/postgres/session'
import { createTokenReads } from '@paylog/runtime/postgres/tokenReads'
import type { Health } from '@paylog/runtime/process/health'
import type { Lifecycle } from '@paylog/runtime/process/lifecycle'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import type { FastifyPluginAsync } from 'fastify'
import { addressRoutes } from './addresses/routes.ts'
import { administratorLists } from './administratorLists.ts'
import type { QueryConfig } from './config.ts'
import { paymentMethodRoutes } from './payment-methods/routes.ts'
import { paymentRoutes } from './payments/routes.ts'
import { createReadAfter } from './readAfter.ts'
import { checkReadSide, measureReadSide } from './readiness.ts'
import { refundRoutes } from './refunds/routes.ts'
import type { QueryDependencies } from './routeSchemas.ts'
import { webhookLogRoutes } from './webhook-logs/routes.ts'

const resources = [paymentRoutes, refundRoutes, paymentMethodRoutes, addressRoutes, webhookLogRoutes]

/**
 * The routes of all resources. Register it on an instance of `createHttp`, which validates requests and formats errors.
 *
 * @param deps `db` is a pool on the database of the read models; `actorOf` finds the caller of a request; `hasAdministratorLists` is false
 *   beside the operator API, which has them too, and as files, because it has the audit trail
 */
export function queryApi({
  db,
  actorOf,
  onGuestRead = () => undefined,
  hasAdministratorLists,
}: {
  readonly db: Queryable
  readonly actorOf: ActorOf
  readonly onGuestRead?: QueryDependencies['onGuestRead']
  readonly hasAdministratorLists: boolean
}): FastifyPluginAsync {
  return async (http) => {
    guardRoutes(http, createCallers(actorOf))
    const dependencies: QueryDependencies = { db, readAfter: createReadAfter(db), onGuestRead }
    for (const routes of resources) await http.register(routes(dependencies))
    if (hasAdministratorLists) await http.register(administratorLists(dependencies))
  }
}

const maxConnections = 16
/** How long a request waits for a database that does not respond. */
const responseTimeoutMs = 5_000

/** Builds the plugin from the configuration. The lifecycle closes its connections after the server that uses them. */
export async function wireQueryApi(
  config: QueryConfig,
  {
    hasAdministratorLists,
    log,
    lifecycle,
    health,
    metrics,
  }: {
    readonly hasAdministratorLists: boolean
    readonly log: Logger
    readonly lifecycle: Lifecycle
    readonly health: Health
    readonly metrics: Metrics
  },
): Promise<FastifyPluginAsync> {
  const { DATABASE_URL: databaseUrl } = config
  const db = createPool({
    databaseUrl,
    applicationName: 'query-api',
    max: maxConnections,
    queryTimeoutMs: responseTimeoutMs,
    log,
  })
  lifecycle.add('postgres', () => db.end())
  await requireOwnSessions(db)
  // No readiness check: without the identity backend sessions get 503, but other replicas would do no better.
  const identity = configuredIdentity(config)
  lifecycle.add('identity', () => identity.close())
  checkReadSide(health, db)
  measureReadSide(metrics, db, log)
  return queryApi({ db, actorOf: identity.actorOf, onGuestRead: createTokenReads(db, log), hasAdministratorLists })
}
