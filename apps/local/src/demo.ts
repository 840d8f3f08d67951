// `npm run demo`: starts a private system, follows one payment through it, and removes everything. `npm run demo -- audit`
// proves a payment, changes the log, and finds the change.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { newSigningKey } from '@paylog/audit-log/note'
import { withOverrides } from '@paylog/runtime/config/environment'
import { createPool } from '@paylog/runtime/postgres/pool'
import type { Runtime } from '@paylog/runtime/process/runtimeFile'
import { createLog } from '@paylog/runtime/telemetry/log'
import { request } from 'undici'
import { runAuditSteps } from './demo/auditSteps.ts'
import { runDemoSteps } from './demo/demoSteps.ts'
import { openDemoStore } from './demo/demoStore.ts'
import { openWebhookEndpoint } from './demo/webhookEndpoint.ts'
import { withoutSettings } from './settings.ts'
import { createPrivateSystem } from './system.ts'
import { createTerminal, StartError } from './terminal.ts'

// biome-ignore lint/style/noProcessEnv: the processes inherit variables that are not settings.
const given = process.env

const { print } = createTerminal(process.stdout)
/** Clean-up steps, run in reverse order. */
const undo: (() => Promise<void> | void)[] = []
let cleaning: Promise<void> | undefined

async function runPayment(): Promise<void> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const endpoint = await openWebhookEndpoint(secret)
  undo.push(() => endpoint.close())
  const runtime = await startSystem({
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: endpoint.url,
    WEBHOOK_1_EVENTS: 'payment.*',
    WEBHOOK_1_EVENT_MODE: 'canonical',
    WEBHOOK_1_SECRET: secret,
  })
  await runDemoSteps({ ...(await stepsOn(runtime)), endpoint })
}

async function runAudit(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'paylog-audit-'))
  undo.push(() => rmSync(directory, { recursive: true, force: true }))
  const { signingKey, verifierKey } = newSigningKey('demo.paylog.example/log')
  const signing = {
    AUDIT_SIGNING_KEY: signingKey,
    AUDIT_CHECKPOINT_INTERVAL: '1s',
    AUDIT_CHECKPOINT_URL: pathToFileURL(join(directory, 'checkpoints')).href,
  }
  const runtime = await startSystem(signing)
  const { environment } = runtime
  const pool = createPool({
    databaseUrl: environment.DATABASE_URL ?? '',
    applicationName: 'paylog demo',
    max: 1,
    log: createLog({ app: 'demo', level: 'silent' }),
  })
  undo.push(() => pool.end())
  await runAuditSteps({
    ...(await stepsOn(runtime)),
    environment: withOverrides(withoutSettings(given), { ...environment, ...signing }),
    directory,
    verifierKey,
    sql: (statement, values) => pool.query(statement, [...values]),
  })
}

/** @param settings variables of the system */
async function startSystem(settings: Readonly<Record<string, string>>): Promise<Runtime> {
  const begin = performance.now()
  const system = await createPrivateSystem(given, settings)
  undo.push(() => system.stop())
  const runtime = await system.start()
  const { base_url, parts } = runtime
  const { statusCode } = await request(`${base_url}/health/ready`)
  if (statusCode !== 200) throw new StartError(`${base_url}/health/ready responded ${statusCode}.`)
  const seconds = ((performance.now() - begin) / 1000).toFixed(1)
  print(`1. A private Paylog is running and healthy at ${base_url}, after ${seconds} s. Its processes:`)
  print(`   ${parts.map(({ name }) => name).join(', ')}.`)
  return runtime
}

/** What the steps of every demo need. */
async function stepsOn({ base_url: baseUrl, environment }: Runtime) {
  const store = await openDemoStore(environment, (step) => undo.push(step))
  return { print, baseUrl, store, sandboxSecret: environment.SANDBOX_WEBHOOK_SECRET ?? '' }
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

const demos: Readonly<Record<string, () => Promise<void>>> = { payment: runPayment, audit: runAudit }

async function run(name = 'payment'): Promise<void> {
  const steps = demos[name]
  if (steps === undefined)
    throw new StartError(`There is no demo ${name}. There are: ${Object.keys(demos).join(', ')}.`)
  await steps()
}

run(process.argv[2]).then(
  () => end(0, '\nThe demo system is stopped and its data is deleted.'),
  (error: unknown) => {
    // An interruption makes the steps fail, but end() already reports it.
    if (cleaning !== undefined) return
    void end(1, `The demo failed: ${error instanceof Error ? error.message : error}`)
  },
)
