import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isAlive } from '@paylog/runtime/process/isAlive'
import { type Runtime, readRuntime } from '@paylog/runtime/process/runtimeFile'
import { matchList } from '@paylog/testing/assertions'
import { freePort, startProcess } from '@paylog/testing/processes'
import { compileCache } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'

const main = new URL('./main.ts', import.meta.url)
const ops = fileURLToPath(new URL('../../ops/src/main.ts', import.meta.url))
const asGuest = { authorization: 'Token demo-guest-token' }

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string }

function run(file: string, args: readonly string[], env: Record<string, string>): Promise<Ended> {
  return new Promise((resolve) => {
    const options = {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      env: { PATH: process.env.PATH, ...compileCache, ...env },
    }
    execFile(file, args, options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

const startAgain = (env: Record<string, string>) => run(process.execPath, [fileURLToPath(main)], env)
const lines = (text: string) => text.trimEnd().split('\n')

function dataDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'paylog-local-test-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return join(directory, 'data')
}

function runtimeOf(directory: string): Runtime {
  const runtime = readRuntime(directory)
  if (runtime === undefined) throw new Error(`No system has left its runtime.json in ${directory}`)
  return runtime
}

const pasted = async (command: string) => (await run('sh', ['-c', command], {})).stdout

/** What curl would do. */
async function asRequest(command: string): Promise<string> {
  const { url, header, body } =
    /^ {2}curl -s (?<url>\S+) -H '(?<header>[^']+)'( -d '(?<body>[^']+)')?$/.exec(command)?.groups ?? {}
  const [name = '', value = ''] = header?.split(': ') ?? []
  const answer = await fetch(url ?? '', { headers: { [name]: value }, ...(body ? { method: 'POST', body } : {}) })
  return answer.text()
}

async function paymentsOfGuest(baseUrl: string): Promise<string[]> {
  const answer = await fetch(`${baseUrl}/payments`, { headers: asGuest })
  const { data } = (await answer.json()) as { data: { id: string }[] }
  return data.map(({ id }) => id)
}

type Readiness = {
  readonly status: string
  readonly checks: Readonly<Record<string, { readonly lag_events?: number }>>
}

async function readinessOf(origin: string): Promise<Readiness> {
  const answer = await fetch(`${origin}/health/ready`)
  return (await answer.json()) as Readiness
}

async function createPayment(baseUrl: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/payments/intents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      total_cents: 1500,
      currency: 'EUR',
      provider_id: 'sandbox',
      guest_data: { email: 'guest@example.com', name: 'Guest', phone: '+34600000000' },
    }),
  })
  const { data } = (await answer.json()) as { data: { id: string } }
  return data.id
}

t.test('a system from its first start to the start after a kill', async (t) => {
  const DATA_DIR = dataDirectory(t)
  const PORT = String(await freePort())
  const baseUrl = `http://127.0.0.1:${PORT}`
  const env = { DATA_DIR, PORT }
  const first = await startProcess(t, { script: main, env })
  let payment = ''
  const hasCurl = (await run('curl', ['--version'], {})).code === 0
  if (!hasCurl) t.comment('NOT TESTED: there is no curl, so the tour of the README is left out')

  await t.test('the first start ends with a line that says ready, and with commands that work as pasted', async (t) => {
    await waitFor(() => first.output().endsWith('\nready\n'), { what: 'the line ready' })
    const commands = lines(first.output()).filter((line) => line.startsWith('  curl '))
    t.equal(commands.length, 3)
    const answers: { success: boolean; data: { id: string } | { id: string }[] }[] = []
    for (const command of commands) answers.push(JSON.parse(await (hasCurl ? pasted(command) : asRequest(command))))
    const [created, seenByGuest, seenByUser] = answers
    t.match(created, { success: true, data: { status: 'pending', guest_email: 'guest@example.com' } })
    payment = created && 'id' in created.data ? created.data.id : ''
    t.equal(seenByGuest?.success, true)
    matchList(t, [seenByGuest?.data].flat(), [{ id: payment }])
    t.same(seenByUser?.data, [])
  })

  await t.test('its docs page is there', async (t) => {
    t.equal((await fetch(`${baseUrl}/docs`)).status, 200)
  })

  await t.test('so is the health page of the worker, at the address that is shown', async (t) => {
    const worker = runtimeOf(DATA_DIR).parts.find(({ name }) => name === 'worker')
    const { status, checks } = await readinessOf(`http://${worker?.address}`)
    t.equal(status, 'ready')
    t.match(checks, { log: { ok: true, role: 'reader' }, deliveries: { ok: true, pending: 0 } })
    t.match(first.output(), `${worker?.address}`)
    const api = await readinessOf(baseUrl)
    t.match(api.checks.webhooks, { ok: true, workers: 1, worker_seen_seconds: Number, pending: 0 })
  })

  await t.test('and the one of the projector', async (t) => {
    const projector = runtimeOf(DATA_DIR).parts.find(({ name }) => name === 'projector')
    // Lags are measured now and then, perhaps while the payment was still on its way.
    const withoutLag = (origin: string) =>
      waitFor(
        async () => {
          const { status, checks } = await readinessOf(origin)
          const check = checks['projection payments']
          return status === 'ready' && check?.lag_events === 0 && check
        },
        { what: 'a lag that is measured, and none' },
      )
    const kept = { ok: true, role: 'running', lag_events: 0, lag_seconds: 0 }
    t.match(await withoutLag(`http://${projector?.address}`), kept)
    t.match(await withoutLag(baseUrl), { ok: true, version: 1, lag_events: 0, lag_seconds: 0 })
  })

  await t.test('the operators settle a payment and read its stream beside it', async (t) => {
    const opsCommand = (...args: string[]) => run(process.execPath, [ops, ...args], { DATA_DIR })
    const settled = await opsCommand('sandbox', 'settle', payment, 'succeeded', '--json')
    t.match(
      { code: settled.code, ...JSON.parse(settled.stdout) },
      { code: 0, payment_id: payment, status: 'succeeded' },
    )
    const read = await opsCommand('streams', 'read', `payment-${payment}`, '--from', '1', '--json')
    const types = lines(read.stdout).map((line) => JSON.parse(line).type)
    t.same(types, ['ProviderIntentCreated', 'PaymentSucceeded'])
    const late = await opsCommand('sandbox', 'settle', payment, 'canceled')
    t.equal(late.code, 1)
    t.match(late.stdout, `Payment ${payment} is succeeded.`)
    t.match(await opsCommand('sandbox', 'settle', 'unknown', 'failed'), {
      code: 1,
      stderr: 'There is no payment unknown.\n',
    })
    t.match(await opsCommand('migrate'), { code: 0, stdout: 'Everything is up to date.\n' })
  })

  await t.test('the tour of the README works as printed', hasCurl ? {} : { skip: 'needs curl' }, async (t) => {
    const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
    const [section = ''] = /## A tour.*?To receive webhooks/s.exec(readme) ?? []
    const tour = [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, commands]) => commands).join('')
    const here = tour.replaceAll('http://127.0.0.1:8080', baseUrl)
    const { code, stdout } = await run('sh', ['-e', '-c', here], { DATA_DIR })
    t.equal(code, 0)
    const [id = ''] = lines(stdout)
    t.match(id, /^[0-9a-f-]{36}$/)
    for (const fact of [
      `Payment ${id} is succeeded.`,
      '"status":"succeeded"',
      'PaymentSucceeded',
      '"code":"not_found"',
      '"address_type":"billing"',
      '"payment_method":{',
      '"alias":"My card"',
      '"deleted":true',
    ])
      t.match(stdout, fact)
  })

  await t.test('a second instance on the same directory is refused in one line', async (t) => {
    const second = await startAgain({ DATA_DIR, PORT: '0' })
    t.equal(second.code, 1)
    t.equal(lines(second.stderr).length, 1)
    for (const fact of [DATA_DIR, String(first.pid), baseUrl]) t.match(second.stderr, fact)
  })

  await t.test('a busy port is refused in one line before anything starts', async (t) => {
    const other = dataDirectory(t)
    const second = await startAgain({ DATA_DIR: other, PORT })
    t.equal(second.code, 1)
    t.equal(lines(second.stderr).length, 1)
    t.match(second.stderr, `Port ${PORT}`)
    t.notOk(existsSync(join(other, 'postgres')))
  })

  await t.test('a killed part is started again, and the rest goes on', async (t) => {
    const before = runtimeOf(DATA_DIR).parts
    const projector = before.find(({ name }) => name === 'projector')
    if (projector === undefined) throw new Error('No projector runs')
    process.kill(projector.pid, 'SIGKILL')
    const created = await createPayment(baseUrl)
    await waitFor(async () => (await paymentsOfGuest(baseUrl)).includes(created), {
      what: 'the new payment in the list',
    })
    const after = runtimeOf(DATA_DIR).parts
    const changed = after.filter(({ pid }) => !before.some((part) => part.pid === pid)).map(({ name }) => name)
    t.same(changed, ['projector'])
    t.match(first.output(), /projector: ended \(SIGKILL\), starts again in 0\.2 s/)
  })

  await t.test('Ctrl-C stops every part and exits 0', async (t) => {
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

  await t.test('the next start has the payments of the one before', async (t) => {
    t.ok((await paymentsOfGuest(baseUrl)).includes(payment))
  })

  await t.test('a killed supervisor leaves nothing running, and the next start works', async (t) => {
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

t.test('bad variables are refused in one line that names all of them, before anything is made', async (t) => {
  const DATA_DIR = dataDirectory(t)
  const refused = await startAgain({
    DATA_DIR,
    PORT: 'eighty',
    SANDBOX_PROVIDER: 'perhaps',
    EVENTSTORE_URL: 'http://127.0.0.1',
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: 'everywhere',
    STRIPE_SECRET_KEY: 'sk_test_alone',
    PAYMENT_RECONCILE_AFTER: 'soon',
  })
  t.equal(refused.code, 1)
  t.equal(lines(refused.stderr).length, 1)
  for (const name of [
    'PORT',
    'SANDBOX_PROVIDER',
    'EVENTSTORE_URL',
    'WEBHOOK_1_URL',
    'WEBHOOK_ALLOWED_PRIVATE_CIDRS',
    'STRIPE_WEBHOOK_SECRET',
    'PAYMENT_RECONCILE_AFTER',
  ])
    t.match(refused.stderr, `${name} `)
  t.notMatch(refused.stderr, 'sk_test_alone')
  t.notOk(existsSync(DATA_DIR))
})

t.test('a part that cannot start fails the start with its reason, and everything else is stopped', async (t) => {
  const DATA_DIR = dataDirectory(t)
  const nobody = await freePort()
  const failed = await startAgain({ DATA_DIR, PORT: '0', DATABASE_URL: `postgres://127.0.0.1:${nobody}/none` })
  t.equal(failed.code, 1)
  t.equal(lines(failed.stderr).length, 1)
  t.match(failed.stderr, `ECONNREFUSED 127.0.0.1:${nobody}`)
  t.notOk(readRuntime(DATA_DIR))
})
