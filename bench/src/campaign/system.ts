// Starts the system of a campaign: Postgres, which stays up, and every app as its own process, which can be killed.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { testMasterKey } from '@paylog/testing/dataKeys'
import { freePort, withoutLimits } from '@paylog/testing/processes'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import { startPrivatePostgres, temporaryDirectory } from '../harness/privatePostgres.ts'
import { type Service, superviseService } from './service.ts'

export type CampaignSystem = {
  /** Both `command-api`. */
  readonly commandUrls: readonly [string, string]
  readonly queryUrl: string
  /** The processes that may be killed. */
  readonly services: readonly Service[]
}

const run = promisify(execFile)

/** @param env more variables of all apps: the providers and the webhook endpoints */
export async function startCampaignSystem(
  stack: AsyncDisposableStack,
  env: Readonly<Record<string, string>>,
): Promise<CampaignSystem> {
  const { databaseUrl } = await startPrivatePostgres(stack)
  const directory = await temporaryDirectory(stack)
  const names = ['event-store', 'identity', 'command-api-1', 'command-api-2', 'query-api'] as const
  const ports = new Map<string, number>()
  for (const name of names) ports.set(name, await freePort())
  const url = (name: (typeof names)[number]) => `http://127.0.0.1:${ports.get(name)}`
  const environment = {
    PATH: process.env.PATH ?? '',
    NODE_COMPILE_CACHE: join(directory, 'compiled'),
    ...moduleLoading,
    HOST: '127.0.0.1',
    DATABASE_URL: databaseUrl,
    PII_MASTER_KEY: testMasterKey,
    EVENTSTORE_URL: `esdb://127.0.0.1:${ports.get('event-store')}?tls=false`,
    AUTH_URL: url('identity'),
    LOG_LEVEL: 'warn',
    ...withoutLimits,
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: '0',
    // A busy machine is not a fault of the system.
    SHED_EVENT_LOOP_DELAY: '0',
    ...env,
  }
  const root = new URL('../../../', import.meta.url)
  await run(process.execPath, [new URL('apps/ops/src/main.ts', root).pathname, 'migrate'], { env: environment })
  const start = (name: string, script: string) =>
    superviseService(stack, name, {
      script,
      env: { ...environment, ...(ports.has(name) && { PORT: String(ports.get(name)) }) },
      logFile: join(directory, `${name}.log`),
    })
  const eventStore = start('event-store', 'apps/embedded-event-store/src/main.ts')
  const identity = start('identity', 'apps/local/src/identity.ts')
  await Promise.all([eventStore.untilReady(), identity.untilReady()])
  const apps = [
    start('command-api-1', 'apps/command-api/src/main.ts'),
    start('command-api-2', 'apps/command-api/src/main.ts'),
    start('query-api', 'apps/query-api/src/main.ts'),
    start('projector', 'apps/projector/src/main.ts'),
    start('worker', 'apps/worker/src/main.ts'),
  ]
  await Promise.all(apps.map((app) => app.untilReady()))
  // Only a process that ends orderly writes the compile cache, and starts without it take twice as long.
  for (const app of [eventStore, ...apps]) app.kill('SIGTERM')
  await Promise.all([eventStore, ...apps].map((app) => app.untilReady()))
  return {
    commandUrls: [url('command-api-1'), url('command-api-2')],
    queryUrl: url('query-api'),
    services: [eventStore, ...apps],
  }
}
