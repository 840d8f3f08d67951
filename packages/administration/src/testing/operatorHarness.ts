// The operator API in the test's process, with an event store, the database and the demo callers.
import { createEventStore } from '@paylog/event-store/eventStore'
import { createIdentity } from '@paylog/identity/identity'
import { parseRights } from '@paylog/identity/rightsVariable'
import { demoRights } from '@paylog/identity/sandboxIdentity'
import { createCallers } from '@paylog/runtime/http/callers'
import { createHttp } from '@paylog/runtime/http/http'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createHealth } from '@paylog/runtime/process/health'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import { startProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import type { Test } from 'tap'
import { createAttention } from '../attention/attention.ts'
import type { Job } from '../jobs/job.ts'
import { createJobs } from '../jobs/jobs.ts'
import { operatorApi } from '../operatorApi.ts'
import type { OperatorDependencies } from '../routeSchemas.ts'
import { createSystem } from '../system/system.ts'

const asAdmin = { 'x-session-id': 'demo-admin-session' }

const main = (app: string) => new URL(`../../../../apps/${app}/src/main.ts`, import.meta.url)

/**
 * @param more replaces dependencies of the routes
 * @param given an event store that the test has started
 */
export async function operatorHarness(
  t: Test,
  more: Partial<OperatorDependencies> = {},
  given?: Awaited<ReturnType<typeof startEventStore>>,
) {
  const [eventStore, backend] = await Promise.all([given ?? startEventStore(t), startFakeIdentity(t)])
  const { connectionString, databaseUrl, keys } = eventStore
  const log = createLog({ app: 'test', level: 'silent' })
  const identity = createIdentity({
    authUrl: backend.authUrl,
    service: 'payments',
    adminUserTypes: ['admin'],
    rights: parseRights(demoRights),
    timeoutMs: 2_000,
  })
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 8, log })
  const store = createEventStore({ connectionString, keys })
  const jobs = createJobs({ pool, log })
  const health = createHealth()
  const system = createSystem({ app: 'test', health, others: [] })
  const now = () => new Date()
  const { endpoints = [], providers = [] } = more
  const attention = createAttention({
    db: pool,
    endpoints,
    providers,
    now,
    log,
    timing: { maxAgeMs: 0, timeoutMs: 2_000 },
  })
  const dependencies: OperatorDependencies = {
    ...{
      databaseUrl,
      pool,
      filePool: pool,
      store,
      keys: eventStore.keys,
      endpoints,
      providers,
      jobs,
      system,
      attention,
      log,
      now,
    },
    backfills: { projects: { projectId: 'default', projectIds: [] }, keepMs: 0 },
    openProviders: async () => new Map(),
    ...more,
  }
  const http = createHttp({ log })
  await http.register(operatorApi(dependencies, createCallers(identity.actorOf)))
  t.teardown(async () => {
    await http.close()
    await jobs.stop(AbortSignal.timeout(5_000))
    await Promise.all([store.close(), pool.end(), identity.close()])
  })
  const send = async (method: 'GET' | 'POST', url: string, headers: Record<string, string> = asAdmin, body?: object) =>
    await http.inject({ method, url, headers, ...(body && { body }) })

  return {
    ...dependencies,
    eventStore,
    health,
    get: (url: string, headers?: Record<string, string>) => send('GET', url, headers),
    post: (url: string, body?: object, headers?: Record<string, string>) => send('POST', url, headers, body),
    start: (app: 'projector' | 'worker') =>
      startProcess(t, {
        script: main(app),
        env: { DATABASE_URL: databaseUrl, EVENTSTORE_URL: connectionString, LOG_LEVEL: 'warn' },
      }),
    /** Waits until a job has ended. */
    ended: (id: string): Promise<Job> =>
      waitFor(
        async () => {
          const job = await jobs.get(id)
          return job !== undefined && job.status !== 'running' && job
        },
        { what: 'the end of the job' },
      ),
  }
}
