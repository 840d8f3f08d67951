import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isAlive } from '@paylog/runtime/process/isAlive'
import { type Runtime, readRuntime } from '@paylog/runtime/process/runtimeFile'
import { matchList } from '@paylog/testing/assertions'
import { freePort, startProcess } from '@paylog/testing/processes'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { dataDirectory } from './testing/dataDirectory.ts'
import { idOf, pay, waitForPayments } from './testing/payments.ts'

const main = new URL('./main.ts', import.meta.url)
const ops = fileURLToPath(new URL('../../ops/src/main.ts', import.meta.url))
const asGuest = { authorization: 'Token demo-guest-token' }

type ExitedProcess = { readonly code: number; readonly stdout: string; readonly stderr: string }

function run(file: string, args: readonly string[], env: Record<string, string>): Promise<ExitedProcess> {
  return new Promise((resolve) => {
    const options = {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      env: { PATH: process.env.PATH, ...moduleLoading, ...env },
    }
    execFile(file, args, options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

const startMain = (env: Record<string, string>) => run(process.execPath, [fileURLToPath(main)], env)
const lines = (text: string) => text.trimEnd().split('\n')

function runtimeOf(directory: string): Runtime {
  const runtime = readRuntime(directory)
  if (runtime === undefined) throw new Error(`There is no runtime.json in ${directory}`)
  return runtime
}

/** Sends the request of a curl command. `npm run newcomer` pastes commands into a shell. */
async function requestOf(command: string): Promise<string> {
  const { url, header, body } =
    /^ {2}curl -s (?<url>\S+) -H '(?<header>[^']+)'( -d '(?<body>[^']+)')?$/.exec(command)?.groups ?? {}
  const [name = '', value = ''] = header?.split(': ') ?? []
  const response = await fetch(url ?? '', { headers: { [name]: value }, ...(body ? { method: 'POST', body } : {}) })
  return response.text()
}

async function paymentsOfGuest(baseUrl: string): Promise<string[]> {
  const response = await fetch(`${baseUrl}/payments`, { headers: asGuest })
  const { data } = (await response.json()) as { data: { id: string }[] }
  return data.map(({ id }) => id)
}

type Readiness = {
  readonly status: string
  readonly checks: Readonly<Record<string, { readonly lag_events?: number }>>
}

async function readinessOf(origin: string): Promise<Readiness> {
  const response = await fetch(`${origin}/health/ready`)
  return (await response.json()) as Readiness
}

const secrets = {
  STRIPE_SECRET_KEY: 'sk_test_made_up',
  STRIPE_WEBHOOK_SECRET: 'whsec_made_up',
  WEBHOOK_1_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`,
}

/** The processes that need each secret, as a value or in a file. */
const processesWith: Readonly<Record<string, readonly string[]>> = {
  STRIPE_SECRET_KEY: ['api', 'worker'],
  STRIPE_WEBHOOK_SECRET: ['api', 'worker'],
  WEBHOOK_1_SECRET: ['worker'],
  SANDBOX_WEBHOOK_SECRET: ['api', 'worker'],
  AUDIT_SIGNING_KEY: ['projector'],
  PII_MASTER_KEY: ['api', 'projector', 'worker'],
  DATABASE_URL: ['embedded-event-store', 'api', 'projector', 'worker'],
  EVENTSTORE_URL: ['api', 'projector', 'worker'],
  EVENTSTORE_CREDENTIALS: ['embedded-event-store'],
}

t.test('npm start works from the first start to the start after SIGKILL', async (t) => {
  const DATA_DIR = dataDirectory(t)
  const PORT = String(await freePort())
  const baseUrl = `http://127.0.0.1:${PORT}`
  const env = { DATA_DIR, PORT, ...secrets }
  const first = await startProcess(t, { script: main, env })
  let payment = ''

  await t.test('npm start prints commands that work when pasted, and ends with the line "ready"', async (t) => {
    await waitFor(() => first.output().endsWith('\nready\n'), { what: 'the line ready' })
    const commands = lines(first.output()).filter((line) => line.startsWith('  curl '))
    t.equal(commands.length, 3)
    const responses: { success: boolean; data: { id: string } | { id: string }[] }[] = []
    for (const command of commands) responses.push(JSON.parse(await requestOf(command)))
    const [created, seenByGuest, seenByUser] = responses
    t.match(created, { success: true, data: { status: 'pending', guest_email: 'guest@example.com' } })
    payment = created && 'id' in created.data ? created.data.id : ''
    t.equal(seenByGuest?.success, true)
    matchList(t, [seenByGuest?.data].flat(), [{ id: payment }])
    t.same(seenByUser?.data, [])
  })

  const skip = existsSync('/proc/self/environ') ? false : 'there is no /proc'
  await t.test('each process has only the secrets that it needs in its environment', { skip }, async (t) => {
    const running = runtimeOf(DATA_DIR).parts.map(({ name, pid }) => ({
      name,
      names: readFileSync(`/proc/${pid}/environ`, 'utf8')
        .split('\0')
        .map((variable) => variable.split('=', 1)[0]),
    }))
    for (const [secret, needed] of Object.entries(processesWith)) {
      const found = running
        .filter(({ names }) => names.some((name) => name === secret || name === `${secret}_FILE`))
        .map(({ name }) => name)
      t.strictSame(found, needed, secret)
    }
  })

  await t.test('npm start serves the API docs page, with the demo credentials', async (t) => {
    t.equal((await fetch(`${baseUrl}/docs`)).status, 200)
    t.match(await (await fetch(`${baseUrl}/openapi.json`)).text(), 'demo-admin-session')
  })

  await t.test('npm start gives the demo users their rights', async (t) => {
    const response = await fetch(`${baseUrl}/admin/me`, { headers: { 'x-session-id': 'demo-support-session' } })
    t.match(await response.json(), { data: { rights: ['read', 'refund'], refund_limit_cents: 50_000 } })
  })

  await t.test('the health page of the worker is at the printed address and reports ready', async (t) => {
    const worker = runtimeOf(DATA_DIR).parts.find(({ name }) => name === 'worker')
    const { status, checks } = await readinessOf(`http://${worker?.address}`)
    t.equal(status, 'ready')
    t.match(checks, { log: { ok: true, role: 'reader' }, deliveries: { ok: true, pending: 0 } })
    t.match(first.output(), `${worker?.address}`)
    const api = await readinessOf(baseUrl)
    t.match(api.checks.webhooks, { ok: true, workers: 1, worker_seen_seconds: Number, pending: 0 })
  })

  await t.test('the health page of the projector reports no lag once the payment is applied', async (t) => {
    const projector = runtimeOf(DATA_DIR).parts.find(({ name }) => name === 'projector')
    // The lag is measured periodically, so the first value may be from before the payment was applied.
    const withoutLag = (origin: string) =>
      waitFor(
        async () => {
          const { status, checks } = await readinessOf(origin)
          const check = checks['projection payments']
          return status === 'ready' && check?.lag_events === 0 && check
        },
        { what: 'a measured lag of 0' },
      )
    const kept = { ok: true, role: 'running', lag_events: 0, lag_seconds: 0 }
    t.match(await withoutLag(`http://${projector?.address}`), kept)
    t.match(await withoutLag(baseUrl), { ok: true, version: 1, lag_events: 0, lag_seconds: 0 })
  })

  await t.test('ops settles a payment and reads its stream while the system runs', async (t) => {
    const opsCommand = (...args: string[]) => run(process.execPath, [ops, ...args], { DATA_DIR })
    const settled = await opsCommand('sandbox', 'settle', payment, 'succeeded', '--json')
    t.match(
      { code: settled.code, ...JSON.parse(settled.stdout) },
      { code: 0, payment_id: payment, status: 'succeeded' },
    )
    const read = await opsCommand('streams', 'read', `payment-${payment}`, '--from', '1', '--json')
    const types = lines(read.stdout).map((line) => JSON.parse(line).type)
    t.same(types, ['ProviderIntentCreated', 'ProviderNotificationReceived', 'PaymentSucceeded'])
    const late = await opsCommand('sandbox', 'settle', payment, 'canceled')
    t.equal(late.code, 1)
    t.match(late.stdout, `Payment ${payment} is succeeded.`)
    t.match(await opsCommand('sandbox', 'settle', 'unknown', 'failed'), {
      code: 1,
      stderr: 'There is no payment unknown.\n',
    })
    t.match(await opsCommand('migrate'), { code: 0, stdout: 'Everything is up to date.\n' })
  })

  await t.test('a second npm start on the same directory fails with one line that names the first', async (t) => {
    const second = await startMain({ DATA_DIR, PORT: '0' })
    t.equal(second.code, 1)
    t.equal(lines(second.stderr).length, 1)
    for (const fact of [DATA_DIR, String(first.pid), baseUrl]) t.match(second.stderr, fact)
  })

  await t.test('npm start on a port in use fails with one line before anything starts', async (t) => {
    const other = dataDirectory(t)
    const second = await startMain({ DATA_DIR: other, PORT })
    t.equal(second.code, 1)
    t.equal(lines(second.stderr).length, 1)
    t.match(second.stderr, `Port ${PORT}`)
    t.notOk(existsSync(join(other, 'postgres')))
  })

  await t.test('a killed process is restarted and the others keep running', async (t) => {
    const before = runtimeOf(DATA_DIR).parts
    const projector = before.find(({ name }) => name === 'projector')
    if (projector === undefined) throw new Error('No projector runs')
    process.kill(projector.pid, 'SIGKILL')
    await waitForPayments(baseUrl, [idOf(await pay(baseUrl))])
    const after = runtimeOf(DATA_DIR).parts
    const changed = after.filter(({ pid }) => !before.some((service) => service.pid === pid)).map(({ name }) => name)
    t.same(changed, ['projector'])
    t.match(first.output(), /projector: exited \(SIGKILL\), restarting in 0\.2 s/)
  })

  await t.test('Ctrl-C stops every process and exits 0', async (t) => {
    const { parts } = runtimeOf(DATA_DIR)
    await first.kill('SIGINT')
    t.same(await first.exited, { code: 0, signal: null })
    t.same(
      parts.filter(({ pid }) => isAlive(pid)),
      [],
    )
    t.notOk(readRuntime(DATA_DIR))
  })

  const second = await startProcess(t, { script: main, env })

  await t.test('npm start after Ctrl-C still has the payments', async (t) => {
    t.ok((await paymentsOfGuest(baseUrl)).includes(payment))
  })

  await t.test('after SIGKILL of the supervisor no process stays and the next start works', async (t) => {
    const { parts } = runtimeOf(DATA_DIR)
    await second.kill('SIGKILL')
    const third = await startProcess(t, { script: main, env })
    t.same(
      parts.filter(({ pid }) => isAlive(pid)),
      [],
    )
    t.ok((await paymentsOfGuest(baseUrl)).includes(payment))
    await third.stop()
    t.match(await third.exited, { code: 0 })
  })
})

t.test('npm start with bad variables fails with one line that names all of them and creates nothing', async (t) => {
  const DATA_DIR = dataDirectory(t)
  const rejected = await startMain({
    DATA_DIR,
    PORT: 'eighty',
    SANDBOX_PROVIDER: 'perhaps',
    EVENTSTORE_URL: 'http://127.0.0.1',
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: 'everywhere',
    STRIPE_SECRET_KEY: 'sk_test_alone',
    PAYMENT_RECONCILE_AFTER: 'soon',
  })
  t.equal(rejected.code, 1)
  t.equal(lines(rejected.stderr).length, 1)
  for (const name of [
    'PORT',
    'SANDBOX_PROVIDER',
    'EVENTSTORE_URL',
    'WEBHOOK_1_URL',
    'WEBHOOK_ALLOWED_PRIVATE_CIDRS',
    'STRIPE_WEBHOOK_SECRET',
    'PAYMENT_RECONCILE_AFTER',
  ])
    t.match(rejected.stderr, `${name} `)
  t.notMatch(rejected.stderr, 'sk_test_alone')
  t.notOk(existsSync(DATA_DIR))
})

t.test('npm start fails with the reason of a process that cannot start and stops the others', async (t) => {
  const DATA_DIR = dataDirectory(t)
  const unusedPort = await freePort()
  const failed = await startMain({ DATA_DIR, PORT: '0', DATABASE_URL: `postgres://127.0.0.1:${unusedPort}/none` })
  t.equal(failed.code, 1)
  t.equal(lines(failed.stderr).length, 1)
  t.match(failed.stderr, `ECONNREFUSED 127.0.0.1:${unusedPort}`)
  t.notOk(readRuntime(DATA_DIR))
})
