// The processes of the system: commands, start order and environment.
import { fileURLToPath } from 'node:url'

export type Address = { readonly host: string; readonly port: number }

export type PlannedService = {
  readonly name: string
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
  const loopback = (service: InternalService) => ({ HOST: '127.0.0.1', PORT: String(ports[service]) })
  const plan: PlannedService[] = []
  if (external.DATABASE_URL === undefined) {
    plan.push({
      name: 'postgres',
      command: [script('local/src/postgres.ts')],
      after: [],
      address: `127.0.0.1:${ports.postgres}`,
      environment: { ...loopback('postgres'), POSTGRES_DIRECTORY: options.postgresDirectory },
    })
  }
  plan.push({
    name: 'migrate',
    command: [script('ops/src/main.ts'), 'migrate'],
    after: ['postgres'],
    address: '',
    environment: {},
    once: true,
  })
  if (external.EVENTSTORE_URL === undefined) {
    plan.push({
      name: 'embedded-event-store',
      command: [script('embedded-event-store/src/main.ts')],
      after: ['postgres'],
      address: `127.0.0.1:${ports['embedded-event-store']}`,
      environment: { ...loopback('embedded-event-store'), EVENTSTORE_CREDENTIALS_FILE: options.eventStoreCredentials },
    })
  }
  if (external.AUTH_URL === undefined) {
    plan.push({
      name: 'identity',
      command: [script('local/src/identity.ts')],
      after: [],
      address: `127.0.0.1:${ports.identity}`,
      environment: loopback('identity'),
    })
  }
  const backends = ['migrate', 'embedded-event-store', 'identity']
  plan.push(
    {
      name: 'api',
      command: [script('api/src/main.ts')],
      after: backends,
      address: `${api.host}:${api.port}`,
      environment: {
        HEALTH_URLS: healthUrls(ports),
        DOCS_DEMO_CREDENTIALS: String(external.AUTH_URL === undefined),
      },
    },
    {
      name: 'projector',
      command: [script('projector/src/main.ts')],
      after: backends,
      address: `127.0.0.1:${ports.projector}`,
      environment: { HOST: '127.0.0.1', HEALTH_PORT: String(ports.projector) },
    },
    {
      name: 'worker',
      command: [script('worker/src/main.ts')],
      after: backends,
      address: `127.0.0.1:${ports.worker}`,
      environment: { HOST: '127.0.0.1', HEALTH_PORT: String(ports.worker) },
    },
  )
  return plan
}
