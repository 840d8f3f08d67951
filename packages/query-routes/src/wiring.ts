// Builds the read side from its configuration; used by its own main and by the api.
import { configuredIdentity } from '@paylog/identity/configured'
import { createPool } from '@paylog/runtime/postgres/postgres'
import type { Health } from '@paylog/runtime/process/health'
import type { Lifecycle } from '@paylog/runtime/process/lifecycle'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Metrics } from '@paylog/runtime/telemetry/metrics'
import type { FastifyPluginAsync } from 'fastify'
import type { QueryConfig } from './config.ts'
import { queryApi } from './queryApi.ts'
import { checkReadSide, measureReadSide } from './readiness.ts'

const maxConnections = 16
/** A client waits no longer than this for a database that is silent. */
const responseTimeoutMs = 5_000

/** The read side as a plugin. Its connections are closed by the lifecycle, after the server that uses them. */
export function wireQueryApi(
  config: QueryConfig,
  {
    log,
    lifecycle,
    health,
    metrics,
  }: { readonly log: Logger; readonly lifecycle: Lifecycle; readonly health: Health; readonly metrics: Metrics },
): FastifyPluginAsync {
  const { DATABASE_URL: databaseUrl } = config
  const db = createPool({
    databaseUrl,
    applicationName: 'query-api',
    max: maxConnections,
    queryTimeoutMs: responseTimeoutMs,
    log,
  })
  lifecycle.add('postgres', () => db.end())
  // No check of readiness goes with it: without it sessions get 503, but no other replica would be better off.
  const identity = configuredIdentity(config)
  lifecycle.add('identity', () => identity.close())
  checkReadSide(health, db)
  measureReadSide(metrics, db, log)
  return queryApi({ db, actorOf: identity.actorOf })
}
