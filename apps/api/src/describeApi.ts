// Builds the OpenAPI document of all APIs from their routes, without connecting to anything.

import { createJobs } from '@paylog/administration/jobs/jobs'
import { operatorApi } from '@paylog/administration/operatorApi'
import { createSystem } from '@paylog/administration/system/system'
import { commandApi } from '@paylog/commands/commandApi'
import { noDataKeys } from '@paylog/event-store/codec/dataKeys'
import { createEventStore } from '@paylog/event-store/eventStore'
import { queryApi } from '@paylog/queries/queryApi'
import { createCallers } from '@paylog/runtime/http/callers'
import { createHttp } from '@paylog/runtime/http/http'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createHealth } from '@paylog/runtime/process/health'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { collectRoutes } from './openApi.ts'

/** Never connected to: the server does not listen, so that no route runs. */
const nowhere = { databaseUrl: 'postgres://127.0.0.1:1/none', connectionString: 'esdb://127.0.0.1:1?tls=false' }

/** @returns the same document as `api` serves */
export async function describeApi(log: Logger): Promise<object> {
  const http = createHttp({ log })
  const store = createEventStore({ ...nowhere, keys: noDataKeys })
  const db = createPool({ ...nowhere, applicationName: 'docs', max: 1, queryTimeoutMs: 1, log })
  const actorOf = async () => ({ kind: 'anonymous' as const })
  try {
    await collectRoutes(http)
    await http.register(createMetrics().plugin)
    await http.register(createHealth().plugin)
    const workflow = { store, providers: new Map(), now: () => new Date() }
    const callers = createCallers(actorOf)
    const payments = { expiresAfterMs: 0, returnUrlOrigins: [] }
    await http.register(
      commandApi({ workflow, callers, endpoints: [], testsBy: 'session', payments, startPage: 'off' }),
    )
    await http.register(queryApi({ db, actorOf }))
    const jobs = createJobs({ pool: db, log })
    const system = createSystem({ app: 'docs', health: createHealth(), others: [] })
    const backfills = { projects: { projectId: 'default', projectIds: [] }, keepMs: 0 }
    const keys = { find: async () => [], present: async () => [] }
    const openProviders = async () => new Map()
    const operator = {
      ...{
        ...nowhere,
        pool: db,
        store,
        keys,
        openProviders,
        endpoints: [],
        backfills,
        jobs,
        system,
        log,
      },
    }
    await http.register(operatorApi({ ...operator, now: workflow.now }, callers))
    await http.ready()
    return http.swagger()
  } finally {
    await http.close()
    await db.end()
    await store.close()
  }
}
