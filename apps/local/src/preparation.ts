// Prepares a start: data directory, ports, secrets and the plan of the processes.
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isAlive } from '@paylog/runtime/process/isAlive'
import { findFreePort, listenProblem } from '@paylog/runtime/process/ports'
import { reachableUrl } from '@paylog/runtime/process/reachableUrl'
import { readRuntime } from '@paylog/runtime/process/runtimeFile'
import {
  auditSigningKey,
  eventStoreCredentials,
  lockDirectory,
  openDataDirectory,
  piiMasterKeyFile,
  sandboxWebhookSecret,
} from './dataDirectory.ts'
import { type Address, type InternalService, internalPorts, type PlannedService, planServices } from './plan.ts'
import { type Settings, webhookVariables } from './settings.ts'
import { StartError } from './terminal.ts'

export type Preparation = {
  readonly directory: string
  readonly baseUrl: string
  readonly plan: readonly PlannedService[]
  /** Settings of all processes, of which each gets its own. The embedded Postgres adds its URL when it is ready. */
  readonly environment: Readonly<Record<string, string>>
  /** Releases the lock on the data directory. */
  readonly unlock: () => void
}

/**
 * @param given the environment that the settings were read from
 * @throws StartError when the data directory is locked or unusable, or the port is in use
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
  const { DATABASE_URL, PII_MASTER_KEY, REDIS_URL, SANDBOX_DATABASE_URL = DATABASE_URL } = settings
  return {
    HOST: api.host,
    PORT: String(api.port),
    ...(DATABASE_URL === undefined ? {} : { DATABASE_URL }),
    ...(SANDBOX_DATABASE_URL === undefined ? {} : { SANDBOX_DATABASE_URL }),
    EVENTSTORE_URL:
      settings.EVENTSTORE_URL ??
      `esdb://${eventStoreCredentials(directory).credentials}@127.0.0.1:${ports['embedded-event-store']}?tls=false`,
    ...(PII_MASTER_KEY === undefined
      ? { PII_MASTER_KEY_FILE: piiMasterKeyFile(directory) }
      : { PII_MASTER_KEY: PII_MASTER_KEY.join(',') }),
    ...(REDIS_URL === undefined ? {} : { REDIS_URL }),
    AUTH_URL: settings.AUTH_URL ?? `http://127.0.0.1:${ports.identity}`,
    AUTH_SERVICE: settings.AUTH_SERVICE,
    PROJECT_ID: settings.PROJECT_ID,
    PROJECT_IDS: settings.PROJECT_IDS.join(','),
    SANDBOX_PROVIDER: String(settings.SANDBOX_PROVIDER),
    SANDBOX_WEBHOOK_SECRET: settings.SANDBOX_WEBHOOK_SECRET ?? sandboxWebhookSecret(directory),
    SANDBOX_PAGE_URL: settings.SANDBOX_PAGE_URL ?? reachableUrl(api.host, api.port),
    ...auditEnvironment(settings, directory),
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: settings.WEBHOOK_ALLOWED_PRIVATE_CIDRS.join(','),
    // Eight processes load the same modules. The compile cache makes a start a third faster.
    NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../node_modules/.cache/paylog/', import.meta.url)),
  }
}

/** How the projector signs checkpoints of the log, and where they are remembered: what the operator has not set. */
function auditEnvironment(settings: Settings, directory: string): Record<string, string> {
  const { AUDIT_SIGNING_KEY: given, AUDIT_CHECKPOINT_URL: url, AUDIT_STATE_FILE: stateFile } = settings
  const key = given === undefined ? auditSigningKey(directory) : undefined
  const verifierKeys = [settings.AUDIT_VERIFIER_KEYS ?? [], key?.formerVerifierKeys ?? []].flat()
  return {
    ...(key !== undefined && { AUDIT_SIGNING_KEY_FILE: key.file }),
    ...(verifierKeys.length > 0 && { AUDIT_VERIFIER_KEYS: verifierKeys.join(',') }),
    AUDIT_STATE_FILE: resolve(stateFile ?? join(directory, 'audit-state')),
    ...(url === undefined && { AUDIT_CHECKPOINT_URL: pathToFileURL(join(directory, 'checkpoints')).href }),
  }
}

/** A free loopback port for each name, all different. */
async function freePorts<Name extends string>(names: readonly Name[]): Promise<Record<Name, number>> {
  const taken = new Set<number>()
  const found = {} as Record<Name, number>
  for (const name of names) found[name] = await findFreePort(taken)
  return found
}

/** @throws StartError when the port cannot be listened on */
async function requireFreePort(host: string, port: number): Promise<void> {
  const problem = await listenProblem(host, port)
  if (problem === undefined) return
  const reason: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use by another program. Stop that, or choose another port with PORT.`,
    EACCES: `This user may not listen on port ${port}. Choose one above 1023 with PORT.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine. Choose another one with HOST.`,
  }
  throw new StartError(reason[problem] ?? `Nothing can listen on port ${port} of ${host} (${problem}).`)
}

/** Longer than a process whose supervisor was killed takes to end. */
const predecessorTimeoutMs = 2_000
const pollMs = 50

/**
 * Waits until the processes of a killed supervisor are gone, so that the API's port is free. runtime.json exists only after
 * a supervisor that did not stop cleanly. After a reboot a pid may belong to another program, which is not waited for long.
 */
async function waitForPredecessorExit(directory: string): Promise<void> {
  const services = readRuntime(directory)?.parts ?? []
  const giveUpAt = performance.now() + predecessorTimeoutMs
  while (services.some(({ pid }) => isAlive(pid)) && performance.now() < giveUpAt) await pause(pollMs)
}
