// The write side as a test sees it: real log, real identity backend over HTTP, the sandbox provider, no port.
import { createEventStore } from '@paylog/event-store/eventStore'
import { createIdentity } from '@paylog/identity/identity'
import type { Provider } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox'
import { createCallers } from '@paylog/runtime/callers'
import { createHttp } from '@paylog/runtime/http'
import { createLog } from '@paylog/runtime/log'
import { startEventStore } from '@paylog/testing/eventStore'
import { startIdentity } from '@paylog/testing/identity'
import type { Test } from 'tap'
import { commandApi } from '../commandApi.ts'

export const webhookSecret = 'sandbox-test-secret'

/** @param given providers in place of the sandbox alone */
export async function commandApiUnderTest(t: Test, given?: readonly Provider[]) {
  const [log, backend] = await Promise.all([startEventStore(t), startIdentity(t)])
  const store = createEventStore({ connectionString: log.connectionString })
  const identity = createIdentity({
    authUrl: backend.authUrl,
    service: 'payments',
    adminUserTypes: ['admin'],
    timeoutMs: 500,
  })
  const enabled = given ?? [createSandbox({ webhookSecrets: [webhookSecret] })]
  const app = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  const time = { now: () => new Date() }
  const providers = new Map(enabled.map((each) => [each.id, each]))
  await app.register(
    commandApi({
      workflow: { store, providers, now: () => time.now() },
      callers: createCallers(identity.actorOf),
    }),
  )
  await app.ready()
  t.teardown(async () => {
    await app.close()
    await identity.close()
    await store.close()
  })
  return { app, store, log, backend, time, providers }
}
