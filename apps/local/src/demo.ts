// `npm run demo`: a private system tells the life of one payment and goes away again.
import { randomBytes } from 'node:crypto'
import { createEventStore } from '@paylog/event-store/eventStore'
import { request } from 'undici'
import { runDemoSteps } from './demo/demoSteps.ts'
import { openWebhookEndpoint } from './demo/webhookEndpoint.ts'
import { createPrivateSystem } from './system.ts'
import { createTerminal, StartError } from './terminal.ts'

// biome-ignore lint/style/noProcessEnv: the parts inherit what is no setting.
const given = process.env

const { say } = createTerminal(process.stdout)
/** What was begun and how it is undone; undone in reverse. */
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
  const { base_url, parts, environment: told } = await system.start()
  const { statusCode } = await request(`${base_url}/health/ready`)
  if (statusCode !== 200) throw new StartError(`${base_url}/health/ready answered ${statusCode}.`)
  const seconds = ((performance.now() - begin) / 1000).toFixed(1)
  say(`1. A private system is up and healthy at ${base_url} after ${seconds} s:`)
  say(`   ${parts.map(({ name }) => name).join(', ')}.`)
  const store = createEventStore({ connectionString: told.EVENTSTORE_URL ?? '' })
  undo.push(() => store.close())
  await runDemoSteps({ say, baseUrl: base_url, store, sandboxSecret: told.SANDBOX_WEBHOOK_SECRET ?? '', endpoint })
}

/** Once, whoever asks first; a Ctrl-C during it waits for the same end. */
function cleanUp(): Promise<void> {
  cleaning ??= (async () => {
    for (const step of undo.toReversed()) await step()
  })()
  return cleaning
}

async function end(exitCode: number, message: string): Promise<void> {
  await cleanUp()
  if (exitCode === 0) say(message)
  else process.stderr.write(`${message}\n`)
  process.exit(exitCode)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (cleaning === undefined) void end(130, 'The demo was interrupted; everything it had started is gone.')
  })
}

run().then(
  () => end(0, '\nThe system of the demo is stopped and its data deleted.'),
  (error: unknown) => {
    // An interruption makes the story fail; it has its own ending.
    if (cleaning !== undefined) return
    void end(1, `The demo failed: ${error instanceof Error ? error.message : error}`)
  },
)
