// The write side as a test sees it: real log, real identity backend over HTTP, the sandbox provider, no port.
import { createEventStore } from '@paylog/event-store/eventStore'
import type { EventStoreTiming } from '@paylog/event-store/timing'
import { createIdentity } from '@paylog/identity/identity'
import type { SandboxGuestToken } from '@paylog/identity/sandboxIdentity'
import type { Provider } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox'
import { createCallers } from '@paylog/runtime/callers'
import { createHttp } from '@paylog/runtime/http'
import { createLog } from '@paylog/runtime/log'
import { startEventStore } from '@paylog/testing/eventStore'
import { startIdentity } from '@paylog/testing/identity'
import type { Test } from 'tap'
import { commandApi } from '../commandApi.ts'
import { rememberedGuest } from '../guest-tokens/rememberedGuest.ts'

export const webhookSecret = 'sandbox-test-secret'
/** How long an expired guest token is remembered: the default. */
export const guestTokenMaxAgeMs = 86_400_000

/**
 * @param given providers in place of the sandbox alone
 * @param timing a log that is less patient than the real one, for a test that takes it away
 * @param guestTokens besides the demo guest's
 */
export async function commandApiUnderTest(
  t: Test,
  given?: readonly Provider[],
  timing: Partial<EventStoreTiming> = {},
  guestTokens: readonly SandboxGuestToken[] = [],
) {
  const [log, backend] = await Promise.all([startEventStore(t), startIdentity(t, { guestTokens })])
  const store = createEventStore({ connectionString: log.connectionString, timing })
  const identity = createIdentity({
    authUrl: backend.authUrl,
    service: 'payments',
    adminUserTypes: ['admin'],
    timeoutMs: 2_000,
  })
  const enabled = given ?? [createSandbox({ webhookSecrets: [webhookSecret] })]
  const logged: string[] = []
  const app = createHttp({
    log: createLog({ app: 'test', level: 'warn' }, { write: (line) => void logged.push(line) }),
  })
  const time = { now: () => new Date() }
  const providers = new Map(enabled.map((each) => [each.id, each]))
  const workflow = { store, providers, now: () => time.now() }
  const emailOf = rememberedGuest({ store, maxAgeMs: guestTokenMaxAgeMs, now: workflow.now })
  const callers = createCallers(identity.actorOf, identity.actorOrRemembered(emailOf))
  await app.register(commandApi({ workflow, callers }))
  await app.ready()
  t.teardown(async () => {
    await app.close()
    await identity.close()
    await store.close()
  })
  return {
    app,
    store,
    log,
    backend,
    time,
    providers,
    workflow,
    /** What was logged from warnings on, a line each. */
    logged,
  }
}
