// `npm run demo`: starts a private system, follows one payment through it, and removes everything.
import { randomBytes } from 'node:crypto'
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { createEventStore } from '@paylog/event-store/eventStore'
import { dataKeyVariables, startDataKeys } from '@paylog/privacy/startDataKeys'
import { createLog } from '@paylog/runtime/telemetry/log'
import { Type } from 'typebox'
import { request } from 'undici'
import { runDemoSteps } from './demo/demoSteps.ts'
import { openWebhookEndpoint } from './demo/webhookEndpoint.ts'
import { createPrivateSystem } from './system.ts'
import { createTerminal, StartError } from './terminal.ts'

// biome-ignore lint/style/noProcessEnv: the processes inherit variables that are not settings.
const given = process.env

const LogConfig = Type.Object({ EVENTSTORE_URL: url(['esdb', 'esdb+discover']), ...dataKeyVariables })

const { print } = createTerminal(process.stdout)
/** Clean-up steps, run in reverse order. */
const undo: (() => Promise<void> | void)[] = []
let cleaning: Promise<void> | undefined

async function run(): Promise<void> {
  const begin = performance.now()
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const endpoint = await openWebhookEndpoint(secret)
  undo.push(() => endpoint.close())
  const system = await createPrivateSystem(given, {
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: endpoint.url,
    WEBHOOK_1_EVENTS: 'payment.*',
    WEBHOOK_1_EVENT_MODE: 'canonical',
    WEBHOOK_1_SECRET: secret,
  })
  undo.push(() => system.stop())
  const { base_url, parts, environment } = await system.start()
  const { statusCode } = await request(`${base_url}/health/ready`)
  if (statusCode !== 200) throw new StartError(`${base_url}/health/ready responded ${statusCode}.`)
  const seconds = ((performance.now() - begin) / 1000).toFixed(1)
  print(`1. A private Paylog is running and healthy at ${base_url}, after ${seconds} s. Its processes:`)
  print(`   ${parts.map(({ name }) => name).join(', ')}.`)
  const config = loadConfig(LogConfig, environment)
  const log = createLog({ app: 'demo', level: 'warn' })
  const keys = await startDataKeys(config, { log, lifecycle: { add: (_name, stop) => void undo.push(stop) } })
  const store = createEventStore({ connectionString: config.EVENTSTORE_URL, keys })
  undo.push(() => store.close())
  await runDemoSteps({
    print,
    baseUrl: base_url,
    store,
    sandboxSecret: environment.SANDBOX_WEBHOOK_SECRET ?? '',
    endpoint,
  })
}

/** Runs once. A Ctrl-C meanwhile waits for the same clean-up. */
function cleanUp(): Promise<void> {
  cleaning ??= (async () => {
    for (const step of undo.toReversed()) await step()
  })()
  return cleaning
}

async function end(exitCode: number, message: string): Promise<void> {
  await cleanUp()
  if (exitCode === 0) print(message)
  else process.stderr.write(`${message}\n`)
  process.exit(exitCode)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (cleaning === undefined) void end(130, 'The demo was interrupted. Everything it started is removed.')
  })
}

run().then(
  () => end(0, '\nThe demo system is stopped and its data is deleted.'),
  (error: unknown) => {
    // An interruption makes the steps fail, but end() already reports it.
    if (cleaning !== undefined) return
    void end(1, `The demo failed: ${error instanceof Error ? error.message : error}`)
  },
)
