// The whole system for tests: every app as a separate process, as in production, with its own database.
import { randomBytes } from 'node:crypto'
import type { PersonalDataKeys } from '@paylog/privacy/dataKeys'
import type { Test } from 'tap'
import { startEventStore } from './eventStore.ts'
import { type FakeIdentity, startFakeIdentity } from './fakeIdentity.ts'
import { freePort, startProcess } from './processes.ts'

const main = (app: string) => new URL(`../../../apps/${app}/src/main.ts`, import.meta.url)

/** A process that can be killed with SIGKILL and started again, with other variables if given. */
export type TestService = { kill(): Promise<void>; start(more?: Readonly<Record<string, string>>): Promise<void> }

export type TestSystem = {
  readonly baseUrl: string
  /** For `createEventStore`. */
  readonly keys: PersonalDataKeys
  /** `esdb://…` */
  readonly eventStoreUrl: string
  /** For the log, the read models and the deliveries. */
  readonly databaseUrl: string
  readonly sandboxSecret: string
  readonly identity: FakeIdentity
  readonly services: Readonly<Record<'embedded-event-store' | 'api' | 'projector' | 'worker', TestService>>
}

/**
 * Starts all apps, in the order of `npm start`, with the sandbox provider and the demo callers.
 * @param env additional variables for all apps, such as webhook endpoints or `REDIS_URL`
 */
export async function startSystem(t: Test, env: Readonly<Record<string, string>> = {}): Promise<TestSystem> {
  const [log, identity, port] = await Promise.all([startEventStore(t), startFakeIdentity(t), freePort()])
  const healthPorts = { projector: await freePort(), worker: await freePort() }
  const sandboxSecret = randomBytes(24).toString('hex')
  const environment = {
    HOST: '127.0.0.1',
    PORT: String(port),
    DATABASE_URL: log.databaseUrl,
    EVENTSTORE_URL: log.connectionString,
    AUTH_URL: identity.authUrl,
    SANDBOX_PROVIDER: 'true',
    SANDBOX_WEBHOOK_SECRET: sandboxSecret,
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
    HEALTH_URLS: Object.entries(healthPorts)
      .map(([app, at]) => `${app}=http://127.0.0.1:${at}`)
      .join(),
    ...env,
  }
  const startService = async (app: string, own = {}): Promise<TestService> => {
    const start = (more = {}) => startProcess(t, { script: main(app), env: { ...environment, ...own, ...more } })
    let running = await start()
    return {
      kill: () => running.kill('SIGKILL'),
      async start(more) {
        running = await start(more)
      },
    }
  }
  const [api, projector, worker] = await Promise.all([
    startService('api'),
    startService('projector', { HEALTH_PORT: String(healthPorts.projector) }),
    startService('worker', { HEALTH_PORT: String(healthPorts.worker) }),
  ])
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    keys: log.keys,
    eventStoreUrl: log.connectionString,
    databaseUrl: log.databaseUrl,
    sandboxSecret,
    identity,
    services: { 'embedded-event-store': log, api, projector, worker },
  }
}
