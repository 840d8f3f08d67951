// The whole system as processes, with everything that they write kept, for tests that look for what must not be there.
import { randomBytes } from 'node:crypto'
import { createEventStore, type EventStore } from '@paylog/event-store/eventStore'
import { signSandboxEvent } from '@paylog/providers/sandbox/signature'
import { startFakeEndpoint, type FakeEndpoint } from '@paylog/testing/endpoint'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import { freePort, startProcess, type TestProcess } from '@paylog/testing/processes'
import type { Test } from 'tap'
import { type FakeIdentityBackend, startFakeIdentityBackend } from './identityBackend.ts'

const apps = ['embedded-event-store', 'api', 'projector', 'worker'] as const
export type App = (typeof apps)[number]

export type AccessHarness = {
  readonly baseUrl: string
  readonly databaseUrl: string
  readonly identity: FakeIdentityBackend
  readonly store: EventStore
  readonly endpoints: Readonly<Record<'canonical' | 'both' | 'raw' | 'failing' | 'chat' | 'legacy', FakeEndpoint>>
  /** Everything that a process of the app ever wrote. */
  written(): ReadonlyMap<App, string>
  /** Kills it without a goodbye. */
  kill(app: App): Promise<void>
  /** Starts it as its supervisor would. */
  start(app: App): Promise<void>
  /** A notification of the sandbox, signed. */
  notification(event: object): { readonly headers: Record<string, string>; readonly body: string }
}

const main = (app: string) => new URL(`../../../../${app}/src/main.ts`, import.meta.url)

/** Secret parts of an endpoint's URL are nobody's business but the operator's. */
const endpointSecret = 'cred.endpoint.url'

/**
 * Starts everything at its most talkative. `failing` answers 500 to whatever it gets, and says where it was sent.
 * @param env more variables, for all apps but the event store
 */
export async function startAccessHarness(t: Test, env: Readonly<Record<string, string>> = {}): Promise<AccessHarness> {
  const endpoints = {
    canonical: await startFakeEndpoint(t),
    both: await startFakeEndpoint(t),
    raw: await startFakeEndpoint(t),
    failing: await startFakeEndpoint(t, (response, _index, { url }) =>
      response.writeHead(500).end(`out of order: ${url}`),
    ),
    chat: await startFakeEndpoint(t),
    legacy: await startFakeEndpoint(t),
  }
  const [{ databaseUrl }, identity, port, storePort] = await Promise.all([
    createMigratedDatabase(t),
    startFakeIdentityBackend(t),
    freePort(),
    freePort(),
  ])
  const sandboxSecret = randomBytes(24).toString('hex')
  const eventStoreUrl = `esdb://127.0.0.1:${storePort}?tls=false`
  const common = { HOST: '127.0.0.1', DATABASE_URL: databaseUrl, LOG_LEVEL: 'trace' }
  const shared = {
    ...common,
    PORT: String(port),
    EVENTSTORE_URL: eventStoreUrl,
    AUTH_URL: identity.authUrl,
    SANDBOX_PROVIDER: 'true',
    SANDBOX_WEBHOOK_SECRET: sandboxSecret,
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: '0',
    RATE_LIMIT_WEBHOOK_TESTS_PER_MINUTE: '0',
    ...endpointVariables(endpoints),
    ...env,
  }
  const started: { app: App; process: TestProcess }[] = []
  async function start(app: App): Promise<void> {
    const ofApp = app === 'embedded-event-store' ? { ...common, PORT: String(storePort) } : shared
    started.push({ app, process: await startProcess(t, { script: main(app), env: ofApp }) })
  }
  await start('embedded-event-store')
  await Promise.all([start('api'), start('projector'), start('worker')])
  const store = createEventStore({ connectionString: eventStoreUrl })
  t.teardown(() => store.close())
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    databaseUrl,
    identity,
    store,
    endpoints,
    written: () =>
      new Map(
        apps.map((app) => [app, started.flatMap((one) => (one.app === app ? one.process.output() : [])).join('')]),
      ),
    async kill(app) {
      await started.findLast((one) => one.app === app)?.process.kill('SIGKILL')
    },
    start,
    notification(event) {
      const created = Math.floor(Date.now() / 1000)
      const body = JSON.stringify({ ...event, created })
      const signature = signSandboxEvent(sandboxSecret, body, created)
      return { headers: { 'content-type': 'application/json', 'sandbox-signature': signature }, body }
    },
  }
}

function endpointVariables({
  canonical,
  both,
  raw,
  failing,
  chat,
  legacy,
}: AccessHarness['endpoints']): Record<string, string> {
  const endpoint = (number: number, { url }: FakeEndpoint, mode: string) => ({
    [`WEBHOOK_${number}_ENABLED`]: 'true',
    [`WEBHOOK_${number}_URL`]: `${url}?key=${endpointSecret}`,
    [`WEBHOOK_${number}_EVENT_MODE`]: mode,
    [`WEBHOOK_${number}_RETRY_SCHEDULE`]: '100ms',
  })
  return {
    ...endpoint(1, canonical, 'canonical'),
    ...endpoint(2, both, 'both'),
    ...endpoint(3, raw, 'raw'),
    ...endpoint(4, failing, 'both'),
    ...endpoint(5, chat, 'both'),
    WEBHOOK_5_FORMAT: 'slack',
    EXTERNAL_WEBHOOK_URLS: `${legacy.url}?key=${endpointSecret}`,
    EXTERNAL_WEBHOOK_EVENTS: 'all',
  }
}
