// Finds ports, and says so early when one is taken.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findFreePort, listenProblem } from '@paylog/runtime/process/ports'
import { reachableUrl } from '@paylog/runtime/process/reachableUrl'
import { readRuntime } from '@paylog/runtime/process/runtimeFile'
import { eventStoreCredentials, lockDirectory, openDataDirectory, sandboxWebhookSecret } from './dataDirectory.ts'
import { type Address, type InternalService, internalPorts, type PlannedService, planServices } from './plan.ts'
import { type Settings, webhookVariables } from './settings.ts'
import { StartError } from './terminal.ts'

/** A free port on the loopback interface for each name, all different. */
async function freePorts<Name extends string>(names: readonly Name[]): Promise<Record<Name, number>> {
  const taken = new Set<number>()
  const found = {} as Record<Name, number>
  for (const name of names) found[name] = await findFreePort(taken)
  return found
}

/** @throws StartError when nobody can listen there now */
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

// The processes of a system that was killed: they stop by themselves, which takes a moment.

/**
 * Enough for a stop with nothing under way. With requests under way the API would take 12 s, retrying appends to an event
 * store that stops at the same time. Killing it is safe: acknowledged payments are on disk, and the worker reconciles the rest.
 */
const patienceMs = 1_000
const pollMs = 50

const ourScripts = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Waits until the parts of a killed supervisor are gone, Postgres with its hold on the data above all, and kills what
 * does not go. Only a system that was not stopped has left its runtime.json behind.
 *
 * The caller holds the directory's lock, so that nobody's running parts are meant.
 */
async function waitForPredecessorExit(directory: string): Promise<void> {
  const left = readRuntime(directory)?.parts ?? []
  const killAt = performance.now() + patienceMs
  for (;;) {
    const alive = left.filter(({ pid }) => runsOurScript(pid))
    if (alive.length === 0) return
    if (performance.now() > killAt) for (const { pid } of alive) kill(pid)
    await pause(pollMs)
  }
}

/** Whether the process is one of ours: after a restart of the machine the number may be anybody's. */
function runsOurScript(pid: number): boolean {
  try {
    const command =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    return command.includes(ourScripts)
  } catch {
    // There is no such process.
    return false
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended in this very moment.
  }
}

// Everything that is settled before the first process starts: directory, ports, secrets, the plan.

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
