// The processes of the system: commands, start order and environment.
import { fileURLToPath } from 'node:url'
import type { ProcessName } from './settings.ts'

export type Address = { readonly host: string; readonly port: number }

export type PlannedService = {
  readonly name: ProcessName
  /** Script and arguments. */
  readonly command: readonly string[]
  /** Processes that must be ready first. A name that is not in the plan counts as ready. */
  readonly after: readonly string[]
  /** Shown on the terminal. Empty for a process that does not listen. */
  readonly address: string
  readonly environment: Readonly<Record<string, string>>
  /** Runs once and exits. */
  readonly once?: boolean
}

export const internalPorts = ['postgres', 'embedded-event-store', 'identity', 'projector', 'worker'] as const
export type InternalService = (typeof internalPorts)[number]

type InternalOptions = {
  readonly after?: readonly string[]
  readonly portVariable?: string
  readonly environment?: Readonly<Record<string, string>>
}

const script = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** Of the processes that the API shows beside itself. */
const healthUrls = (ports: Readonly<Record<InternalService, number>>) =>
  (['projector', 'worker'] as const).map((name) => `${name}=http://127.0.0.1:${ports[name]}`).join(',')

/**
 * The processes in start order. They stop in reverse order.
 * @param options `external` are the backends that the operator runs elsewhere, so that the plan has no process for them
 */
export function planServices(options: {
  readonly api: Address
  readonly ports: Readonly<Record<InternalService, number>>
  readonly external: {
    readonly DATABASE_URL?: string | undefined
    readonly EVENTSTORE_URL?: string | undefined
    readonly AUTH_URL?: string | undefined
  }
  readonly postgresDirectory: string
  /** File with the credentials of the embedded event store. */
  readonly eventStoreCredentials: string
}): PlannedService[] {
  const { api, external, ports } = options
  /** A process that listens on this machine only. */
  const internal = (
    name: InternalService,
    path: string,
    { after = [], portVariable = 'PORT', environment = {} }: InternalOptions = {},
  ): PlannedService => ({
    name,
    command: [script(path)],
    after,
    address: `127.0.0.1:${ports[name]}`,
    environment: { HOST: '127.0.0.1', [portVariable]: String(ports[name]), ...environment },
  })
  const ownPostgres = internal('postgres', 'local/src/postgres.ts', {
    environment: { POSTGRES_DIRECTORY: options.postgresDirectory },
  })
  const ownEventStore = internal('embedded-event-store', 'embedded-event-store/src/main.ts', {
    after: ['postgres'],
    environment: { EVENTSTORE_CREDENTIALS_FILE: options.eventStoreCredentials },
  })
  const after = ['migrate', 'embedded-event-store', 'identity']
  return [
    ...(external.DATABASE_URL === undefined ? [ownPostgres] : []),
    {
      name: 'migrate',
      command: [script('ops/src/main.ts'), 'migrate'],
      after: ['postgres'],
      address: '',
      environment: {},
      once: true,
    },
    ...(external.EVENTSTORE_URL === undefined ? [ownEventStore] : []),
    ...(external.AUTH_URL === undefined ? [internal('identity', 'local/src/identity.ts')] : []),
    {
      name: 'api',
      command: [script('api/src/main.ts')],
      after,
      address: `${api.host}:${api.port}`,
      environment: {
        HEALTH_URLS: healthUrls(ports),
        DOCS_DEMO_CREDENTIALS: String(external.AUTH_URL === undefined),
        START_PAGE: external.AUTH_URL === undefined ? 'demo' : 'on',
      },
    },
    internal('projector', 'projector/src/main.ts', { after, portVariable: 'HEALTH_PORT' }),
    internal('worker', 'worker/src/main.ts', { after, portVariable: 'HEALTH_PORT' }),
  ]
}
