// The operator API under test, with a real log, a real Postgres and the sandbox identity backend.
import { createEventStore } from '@paylog/event-store/eventStore'
import { createIdentity } from '@paylog/identity/identity'
import { createCallers } from '@paylog/runtime/http/callers'
import { createHttp } from '@paylog/runtime/http/http'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createHealth } from '@paylog/runtime/process/health'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import { decodeEndpoints } from '@paylog/webhooks/endpoints/endpoints'
import type { Test } from 'tap'
import { createJobs } from '../jobs/jobs.ts'
import { operatorApi } from '../operatorApi.ts'
import { createSystem } from '../system/system.ts'

export type OperatorResponse = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body. */
  json(): ReturnType<typeof JSON.parse>
}

/** @param options `endpoints` as variables; `keepMs` how long finished deliveries are kept, 0 for ever */
export async function operatorHarness(
  t: Test,
  options: {
    readonly connectionString: string
    readonly databaseUrl: string
    readonly endpoints?: Readonly<Record<string, string>>
    readonly now?: () => Date
    readonly keepMs?: number
  },
) {
  const { authUrl } = await startFakeIdentity(t)
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl: options.databaseUrl, applicationName: 'test', max: 4, log })
  const store = createEventStore({ connectionString: options.connectionString })
  const identity = createIdentity({ authUrl, service: 'payments', adminUserTypes: ['admin'], timeoutMs: 10_000 })
  const jobs = createJobs({ pool, log })
  const http = createHttp({ log })
  await http.register(
    operatorApi({
      databaseUrl: options.databaseUrl,
      pool,
      store,
      administrator: createCallers(identity.actorOf).administrator,
      endpoints: decodeEndpoints(options.endpoints ?? {}).endpoints,
      backfills: { projects: { projectId: 'default', projectIds: [] }, keepMs: options.keepMs ?? 0 },
      jobs,
      system: createSystem({ app: 'test', health: createHealth(), others: [] }),
      log,
      now: options.now ?? (() => new Date()),
    }),
  )
  t.teardown(async () => {
    await http.close()
    await jobs.stop(new AbortController().signal)
    await Promise.all([pool.end(), store.close(), identity.close()])
  })

  async function send(method: 'GET' | 'POST', url: string, session: string | null, body?: object) {
    const headers = session === null ? {} : { 'x-session-id': session }
    const response = await http.inject({ method, url, headers, ...(body && { payload: body }) })
    const entries = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)])
    const { statusCode: status, body: text } = response
    return { status, headers: new Headers(entries), text, json: () => JSON.parse(text) }
  }
  return {
    databaseUrl: options.databaseUrl,
    pool,
    store,
    jobs,
    /** By the demo administrator. @param session of another caller; null without one */
    get: (url: string, session: string | null = 'demo-admin-session'): Promise<OperatorResponse> =>
      send('GET', url, session),
    post: (url: string, body?: object, session: string | null = 'demo-admin-session'): Promise<OperatorResponse> =>
      send('POST', url, session, body),
  }
}
