// The query API on its own database, with the sandbox identity backend.
import { createIdentity } from '@paylog/identity/identity'
import { parseRights } from '@paylog/identity/rightsVariable'
import { demoRights } from '@paylog/identity/sandboxIdentity'
import { createApplier } from '@paylog/projections/apply/applier'
import { projections } from '@paylog/projections/registry'
import { createLogFixture, user } from '@paylog/projections/testing/logFixture'
import { readModelDatabase } from '@paylog/projections/testing/projectionHarness'
import { createHttp } from '@paylog/runtime/http/http'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import type { RouteOptions } from 'fastify'
import type { Test } from 'tap'
import { queryApi } from '../queryApi.ts'

export const ada = user('00000000-0000-4000-8000-000000000001', 'ada@example.com')
export const grace = user('00000000-0000-4000-8000-000000000002', 'grace@example.com')
export const asAda = { authorization: 'Bearer demo-session' }
export const asGrace = { 'x-session-id': 'demo-session-2' }
export const asAdmin = { 'x-session-id': 'demo-admin-session' }
export const asGuest = { 'x-guest-token': 'demo-guest-token' }

const otherGuest = { token: 'other-guest-token', email: 'other@example.com', name: 'Other Guest', expires_at: null }
const asOtherGuest = { 'x-guest-token': otherGuest.token }

/** All kinds of callers, and the owner whose resources each may read. */
export const callers = [
  { own: 'ada', headers: asAda },
  { own: 'grace', headers: asGrace },
  { own: 'guest', headers: asGuest },
  { own: 'other', headers: asOtherGuest },
  { own: 'none', headers: asAdmin },
] as const

/**
 * The routes, and a log whose events `project` applies to the read models.
 * @param pool of read models that a projector keeps up to date
 */
export async function queryApiHarness(t: Test, pool?: Awaited<ReturnType<typeof readModelDatabase>>['pool']) {
  const { authUrl } = await startFakeIdentity(t, { guestTokens: [otherGuest] })
  const identity = createIdentity({
    authUrl,
    service: 'payments',
    adminUserTypes: ['admin'],
    rights: parseRights(demoRights),
    timeoutMs: 2_000,
  })
  const db = pool ?? (await readModelDatabase(t)).pool
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  const routes: RouteOptions[] = []
  http.addHook('onRoute', (route) => void routes.push(route))
  await http.register(queryApi({ db, actorOf: identity.actorOf, hasAdministratorLists: true }))
  t.teardown(async () => {
    await http.close()
    await identity.close()
  })

  const log = createLogFixture()
  const appliers = projections.map((projection) => createApplier({ pool: db, projection, version: 1, source: log }))
  let projected = 0
  return {
    http,
    /** As they were registered. */
    routes,
    pool: db,
    log,
    /** Applies the events logged since the last call. */
    async project() {
      for (const applier of appliers) {
        await applier.start()
        await applier.apply(log.batch(projected))
      }
      projected = log.events.length
    },
    /** Sends the request at once; `inject` alone would wait until it is awaited. */
    get: async (url: string, headers: Record<string, string> = asAda) => await http.inject({ url, headers }),
  }
}
