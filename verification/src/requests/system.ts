// Starts the system that the requests go to: Postgres, event store, identity backend, all APIs, projector and worker.
import { execFile } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startPrivatePostgres, temporaryDirectory } from '@paylog/bench/harness/privatePostgres'
import { type BenchmarkProgram, startBenchmarkProgram } from '@paylog/bench/harness/program'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { freePort, withoutLimits } from '@paylog/testing/processes'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import { startEndpoints } from '../campaign/load/endpoints.ts'
import { createRandom } from '../campaign/random.ts'
import { readDocument } from './document.ts'

export type RequestSystem = ReturnType<typeof readDocument> & {
  readonly url: string
  readonly servers: ReadonlyMap<string, BenchmarkProgram>
  /** The lines in the log of the servers that contain a text. */
  logged(text: string): readonly string[]
  /** The checks that do not recover, such as a read model that an event has stopped. */
  failing(): Promise<readonly string[]>
}

const root = new URL('../../../', import.meta.url)
const recoveryMs = 60_000
const pollMs = 500
const names = ['embedded-event-store', 'identity', 'api', 'projector', 'worker'] as const

/** @param env more variables of all servers: the providers */
export async function startRequestSystem(
  stack: AsyncDisposableStack,
  env: Readonly<Record<string, string>>,
): Promise<RequestSystem> {
  const { databaseUrl } = await startPrivatePostgres(stack)
  const log = join(await temporaryDirectory(stack), 'servers.log')
  const output = openSync(log, 'a')
  const ports = new Map<string, string>()
  for (const name of names) ports.set(name, String(await freePort()))
  const url = (name: (typeof names)[number]) => `http://127.0.0.1:${ports.get(name)}`
  const endpoints = await startEndpoints(stack, createRandom(0, 'endpoints'))
  const environment = {
    PATH: process.env.PATH ?? '',
    ...moduleLoading,
    HOST: '127.0.0.1',
    DATABASE_URL: databaseUrl,
    SANDBOX_DATABASE_URL: databaseUrl,
    PII_MASTER_KEY: testMasterKey,
    EVENTSTORE_URL: `esdb://127.0.0.1:${ports.get('embedded-event-store')}?tls=false`,
    AUTH_URL: url('identity'),
    HEALTH_URLS: `projector=${url('projector')},worker=${url('worker')}`,
    LOG_LEVEL: 'error',
    ...withoutLimits,
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: '0',
    RATE_LIMIT_WEBHOOK_TESTS_PER_MINUTE: '0',
    // A busy machine is not a fault of the system.
    SHED_EVENT_LOOP_DELAY: '0',
    ...endpoints.env,
    ...env,
  }
  await promisify(execFile)(process.execPath, [fileURLToPath(new URL('apps/ops/src/main.ts', root)), 'migrate'], {
    env: environment,
  })
  const servers = new Map<string, BenchmarkProgram>()
  const nodeOptions = `--expose-gc --import=${new URL('memoryProbe.ts', import.meta.url).href}`
  for (const name of names) {
    const script = new URL(name === 'identity' ? 'apps/local/src/identity.ts' : `apps/${name}/src/main.ts`, root)
    const port = ports.get(name) ?? ''
    const NODE_OPTIONS = `${moduleLoading.NODE_OPTIONS ?? ''} ${nodeOptions}`
    const own = { ...environment, PORT: port, HEALTH_PORT: port, NODE_OPTIONS }
    servers.set(name, await startBenchmarkProgram(script, { env: own, stack, output }))
  }
  const response = await fetch(`${url('api')}/openapi.json`)
  return {
    ...readDocument(Object(await response.json())),
    ...{ url: url('api'), servers },
    logged: (text) =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => line.includes(text)),
    failing: () => failingChecks(`${url('api')}/health/ready`),
  }
}

type Check = { readonly ok: boolean; readonly lag_events?: number | null }

async function failingChecks(url: string): Promise<readonly string[]> {
  for (const deadline = performance.now() + recoveryMs; ; await pause(pollMs)) {
    const { checks } = (await (await fetch(url)).json()) as { readonly checks: Readonly<Record<string, Check>> }
    const failing = Object.entries(checks).filter(([, { ok, lag_events }]) => !ok || Number(lag_events) > 0)
    if (failing.length === 0 || performance.now() > deadline) return failing.map(([name]) => name)
  }
}
