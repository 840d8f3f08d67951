import { createEventStore } from '@paylog/event-store/eventStore'
import { hashToken } from '@paylog/identity/identity'
import { loadConfig } from '@paylog/runtime/config/environment'
import { createHttp } from '@paylog/runtime/http/http'
import { createHealth } from '@paylog/runtime/process/health'
import type { Lifecycle } from '@paylog/runtime/process/lifecycle'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import t from 'tap'
import { Type } from 'typebox'
import { wireCommandApi } from '../commandApi.ts'
import { commandVariables, loadCommandConfig } from '../config.ts'
import { rememberGuestToken } from './guestTokens.ts'

const Variables = Type.Object(commandVariables)
const required = {
  EVENTSTORE_URL: 'esdb://127.0.0.1:2113',
  DATABASE_URL: 'postgres://127.0.0.1/none',
  PII_MASTER_KEY: testMasterKey,
  AUTH_URL: 'http://127.0.0.1:8081',
}
const dayMs = 86_400_000

t.test('expired guest tokens are remembered for 24 hours by default [5-history-age]', async (t) => {
  const of = (more: Record<string, string>) => {
    const config = loadConfig(Variables, { ...required, ...more })
    return [config.GUEST_TOKEN_HISTORY_FALLBACK, config.GUEST_TOKEN_HISTORY_MAX_AGE]
  }
  t.same(of({}), [true, dayMs])
  t.same(of({ GUEST_TOKEN_HISTORY_FALLBACK: '', GUEST_TOKEN_HISTORY_MAX_AGE: '' }), [true, dayMs])
  t.same(of({ GUEST_TOKEN_HISTORY_FALLBACK: 'false', GUEST_TOKEN_HISTORY_MAX_AGE: '90m' }), [false, 5_400_000])
  t.same(of({ GUEST_TOKEN_HISTORY_MAX_AGE: '500' }), [true, 500])
  t.throws(() => of({ GUEST_TOKEN_HISTORY_FALLBACK: 'no' }), /GUEST_TOKEN_HISTORY_FALLBACK must be true or false/)
  t.throws(() => of({ GUEST_TOKEN_HISTORY_MAX_AGE: '1 day' }), /GUEST_TOKEN_HISTORY_MAX_AGE must be a duration/)
})

t.test('the write API applies the guest token history variables', async (t) => {
  const [log, identity] = await Promise.all([startEventStore(t), startFakeIdentity(t)])
  const store = createEventStore({ connectionString: log.connectionString, keys: log.keys })
  t.teardown(() => store.close())
  const seenAnHourAgo = new Date(Date.now() - 3_600_000).toISOString()
  const token = {
    kind: 'guest',
    guest_email: 'guest@example.com',
    token_hash: hashToken('expired-guest-token'),
  } as const
  await rememberGuestToken(store, token, seenAnHourAgo, { correlationId: 'c', causationId: 'c', actor: 'guest' })

  async function statusWith(more: Record<string, string>): Promise<number> {
    const env = {
      EVENTSTORE_URL: log.connectionString,
      DATABASE_URL: log.databaseUrl,
      PII_MASTER_KEY: testMasterKey,
      AUTH_URL: identity.authUrl,
      ...more,
    }
    const stopping = new AbortController()
    const lifecycle: Lifecycle = {
      add: (_name, stop) => t.teardown(stop),
      stopping: stopping.signal,
      givingUp: new AbortController().signal,
      fail: (error) => t.fail(String(error)),
    }
    const silent = createLog({ app: 'test', level: 'silent' })
    const http = createHttp({ log: silent })
    const dependencies = { keys: log.keys, log: silent, lifecycle, health: createHealth(), metrics: createMetrics() }
    await http.register(await wireCommandApi(loadCommandConfig(Variables, env), dependencies))
    const headers = { authorization: 'Token expired-guest-token' }
    const { statusCode } = await http.inject({ method: 'DELETE', url: '/addresses/none', headers })
    await http.close()
    stopping.abort()
    return statusCode
  }
  t.equal(await statusWith({}), 404, 'the guest is remembered, the address is unknown')
  t.equal(await statusWith({ GUEST_TOKEN_HISTORY_FALLBACK: 'false' }), 401)
  t.equal(await statusWith({ GUEST_TOKEN_HISTORY_MAX_AGE: '50m' }), 401)
})
