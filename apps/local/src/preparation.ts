// Everything that is settled before the first process starts: directory, ports, secrets, the plan.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { reachableUrl } from '@paylog/runtime/process/reachableUrl'
import { eventStoreCredentials, openDataDirectory, sandboxWebhookSecret } from './dataDirectory.ts'
import { lockDirectory } from './lock.ts'
import { type Address, type InternalService, internalPorts, type PlannedService, planServices } from './plan.ts'
import { freePorts, requireFreePort } from './ports.ts'
import { waitForPredecessorExit } from './predecessor.ts'
import { type Settings, webhookVariables } from './settings.ts'

export type Preparation = {
  readonly directory: string
  readonly baseUrl: string
  readonly plan: readonly PlannedService[]
  /** What every part is told; the embedded Postgres adds its DATABASE_URL when it is ready. */
  readonly environment: Readonly<Record<string, string>>
  /** Gives the data directory back. */
  readonly unlock: () => void
}

/**
 * @param given the environment that the settings were read from
 * @throws StartError when the data directory or the port is taken, or a directory cannot be used
 */
export async function prepare(settings: Settings, given: NodeJS.ProcessEnv): Promise<Preparation> {
  const directory = openDataDirectory(settings.DATA_DIR)
  const unlock = lockDirectory(directory)
  try {
    await waitForPredecessorExit(directory)
    const free = await freePorts([...internalPorts, 'api'])
    const ports = { ...free, worker: settings.HEALTH_PORT || free.worker }
    const api = { host: settings.HOST, port: settings.PORT || ports.api }
    await requireFreePort(api.host, api.port)
    const plan = planServices({
      api,
      ports,
      external: settings,
      postgresDirectory: join(directory, 'postgres'),
      eventStoreCredentials: eventStoreCredentials(directory).file,
    })
    const environment = { ...webhookVariables(given), ...sharedEnvironment(settings, directory, api, ports) }
    return { directory, baseUrl: reachableUrl(api.host, api.port), plan, environment, unlock }
  } catch (error) {
    unlock()
    throw error
  }
}

function sharedEnvironment(
  settings: Settings,
  directory: string,
  api: Address,
  ports: Readonly<Record<InternalService, number>>,
): Record<string, string> {
  const { DATABASE_URL, REDIS_URL } = settings
  return {
    HOST: api.host,
    PORT: String(api.port),
    ...(DATABASE_URL === undefined ? {} : { DATABASE_URL }),
    EVENTSTORE_URL:
      settings.EVENTSTORE_URL ??
      `esdb://${eventStoreCredentials(directory).credentials}@127.0.0.1:${ports['embedded-event-store']}?tls=false`,
    ...(REDIS_URL === undefined ? {} : { REDIS_URL }),
    AUTH_URL: settings.AUTH_URL ?? `http://127.0.0.1:${ports.identity}`,
    AUTH_SERVICE: settings.AUTH_SERVICE,
    PROJECT_ID: settings.PROJECT_ID,
    PROJECT_IDS: settings.PROJECT_IDS.join(','),
    SANDBOX_PROVIDER: String(settings.SANDBOX_PROVIDER),
    SANDBOX_WEBHOOK_SECRET: settings.SANDBOX_WEBHOOK_SECRET ?? sandboxWebhookSecret(directory),
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: settings.WEBHOOK_ALLOWED_PRIVATE_CIDRS.join(','),
    // Every start loads the same modules in eight processes; with their compiled form kept it takes a third less time.
    NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../node_modules/.cache/paylog/', import.meta.url)),
  }
}
