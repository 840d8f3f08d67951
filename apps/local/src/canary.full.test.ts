// Erases a made-up person from a whole system, as `npm start` runs it, and searches for them everywhere.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { settlePayment } from '@paylog/commands/payments/sandboxReports'
import { closedKeys } from '@paylog/event-store/codec/dataKeys'
import { createEventStore } from '@paylog/event-store/eventStore'
import { createPool } from '@paylog/runtime/postgres/pool'
import { readRuntime } from '@paylog/runtime/process/runtimeFile'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import { startFakeTraceCollector } from '@paylog/testing/fakeTraceCollector'
import { freePort, startProcess } from '@paylog/testing/processes'
import { startRedisServer, withRedis } from '@paylog/testing/redisServer'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import { waitFor } from '@paylog/testing/waitFor'
import { Redis } from 'ioredis'
import t from 'tap'
import {
  address,
  canarySession,
  canaryToken,
  filesWithWord,
  guestEmail,
  guestToken,
  isIn,
  method,
  sessionId,
  texts,
  userEmail,
  userId,
  word,
} from './testing/canaryPerson.ts'

const home = mkdtempSync(join(tmpdir(), 'paylog-canary-'))
const DATA_DIR = join(home, 'data')
// Like an endpoint that reports what it did not understand.
const endpoint = await startFakeEndpoint(t, (response) =>
  response.end(`not understood: ${endpoint.received.at(-1)?.body}`),
)
const identity = await startFakeIdentity(t, { guestTokens: [canaryToken], sessions: [canarySession] })
const collector = await startFakeTraceCollector(t)
const redis = 'skip' in withRedis ? undefined : await startRedisServer(t)
const port = await freePort()
const settings = {
  DATA_DIR,
  PORT: String(port),
  AUTH_URL: identity.authUrl,
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: endpoint.url,
  WEBHOOK_1_EVENTS: 'all',
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
  LOG_LEVEL: 'debug',
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
  OTEL_BSP_SCHEDULE_DELAY: '100',
  ...(redis && { REDIS_URL: redis.url }),
}
const script = new URL('./main.ts', import.meta.url)
const system = await startProcess(t, { script, env: settings })
t.teardown(() => rmSync(home, { recursive: true, force: true }))
const baseUrl = `http://127.0.0.1:${port}`
const { environment = {} } = readRuntime(DATA_DIR) ?? {}
const { EVENTSTORE_URL: connectionString = '', DATABASE_URL: databaseUrl = '' } = environment
const log = createLog({ app: 'test', level: 'silent' })
const pool = createPool({ databaseUrl, applicationName: 'test', max: 1, log })
const store = createEventStore({ connectionString, keys: closedKeys })
t.teardown(() => Promise.all([pool.end(), store.close()]))

const asUser = { 'x-session-id': sessionId }
const asGuest = { 'x-guest-token': guestToken }
const asAdmin = { 'x-session-id': 'demo-admin-session' }

async function send(method: string, path: string, headers: Record<string, string> = {}, body?: object) {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.text() }
}
const idOf = ({ body }: { readonly body: string }): string => JSON.parse(body).data.id

const opsMain = fileURLToPath(new URL('../../ops/src/main.ts', import.meta.url))
/** @throws when the command fails */
async function ops(...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH, ...moduleLoading, DATA_DIR, SANDBOX_PROVIDER: 'true', LANG: 'C' }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [opsMain, ...args], {
    env,
    maxBuffer: 1 << 26,
  })
  for (const written of [stdout, stderr]) t.notOk(isIn(Buffer.from(written)), args.slice(0, 2).join(' '))
  return stdout
}

/** Writes what the person leaves behind: with a session, as a guest, and without either. */
async function leaveTraces() {
  const intent = { total_cents: 2200, currency: 'EUR', provider_id: 'sandbox', ...texts }
  const guest_data = { email: guestEmail, name: canaryToken.name, phone: `+49 ${word}` }
  const keyed = { ...asUser, 'idempotency-key': `${word}-key` }
  const paid = idOf(await send('POST', '/payments/intents', keyed, intent))
  await send('POST', '/payments/intents', keyed, intent)
  const canceled = idOf(await send('POST', '/payments/intents', asUser, { ...intent, guest_data }))
  const ofGuest = idOf(await send('POST', '/payments/intents', {}, { ...intent, guest_data }))
  const anonymous = idOf(await send('POST', '/payments/intents', {}, intent))
  for (const paymentId of [paid, ofGuest])
    await settlePayment({
      ...{ store, baseUrl, paymentId, outcome: 'succeeded' },
      secret: environment.SANDBOX_WEBHOOK_SECRET ?? '',
    })
  const refund = { amount_cents: 100, note: `asked by ${word}` }
  const statuses = [
    await send('POST', '/addresses', asUser, address),
    await send('POST', '/addresses', asGuest, { ...address, email: guestEmail }),
    await send('POST', '/payment-methods', asUser, method),
    await send('POST', '/payment-methods', asGuest, method),
    await send('POST', `/payments/${paid}/refunds`, asAdmin, refund),
    await send('POST', `/payments/${canceled}/cancel`, asUser, { reason: `${word} changed their mind` }),
    await send('GET', `/payments/${ofGuest}?token=${guestToken}`),
    await send('GET', `/admin/payments?search=${encodeURIComponent(userEmail)}`, asAdmin),
    await send('GET', `/admin/addresses?guest_email=${encodeURIComponent(guestEmail)}`, asAdmin),
    // Errors.
    await send('POST', '/payments/intents', asUser, { ...intent, currency: word }),
    await send('GET', `/payments/${word}`, asUser),
    await send('GET', `/${word}?email=${userEmail}`, asUser),
  ]
  return { paid, canceled, ofGuest, anonymous, statuses: statuses.map(({ status }) => status) }
}

const traces = await leaveTraces()

async function tablesWithWord(): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relkind in ('r', 'm') and nspname not in ('information_schema')`,
  )
  const found: string[] = []
  for (const { name } of rows) {
    const result = await pool
      .query(`select from ${name} as r where r::text ilike $1 limit 1`, [`%${word}%`])
      .catch((error: unknown) => {
        // Some catalogs are for superusers only.
        if (error instanceof Error && 'code' in error && error.code === '42501') return { rowCount: 0 }
        throw error
      })
    if (result.rowCount === 1) found.push(name)
  }
  return found
}

const logsWithWord = () => filesWithWord(join(DATA_DIR, 'logs'))

async function isInRedis(): Promise<boolean> {
  if (redis === undefined) return false
  const client = new Redis(redis.url)
  try {
    await client.config('SET', 'rdbcompression', 'no')
    const keys = await client.keys('*')
    const dumps = await Promise.all(keys.map((key) => client.dumpBuffer(key)))
    return keys.some((key) => isIn(Buffer.from(key))) || dumps.some((dump) => dump !== null && isIn(dump))
  } finally {
    client.disconnect()
  }
}

t.test('before an erasure the person is in the tables, but not in logs, output, traces and Redis', async (t) => {
  t.same(traces.statuses, [201, 201, 201, 201, 201, 200, 200, 200, 200, 400, 404, 404])
  const isThere = async (path: string, headers: Record<string, string>) =>
    isIn(Buffer.from((await send('GET', path, headers)).body))
  await waitFor(() => isThere('/payments', asUser), { what: 'the list of payments' })
  await waitFor(() => endpoint.received.some(({ body }) => isIn(Buffer.from(body))), { what: 'a webhook' })
  await waitFor(
    async () =>
      (await pool.query('select from webhooks.finished_deliveries where body ilike $1', [`%${word}%`])).rowCount,
    { what: 'a delivery' },
  )
  t.ok((await tablesWithWord()).includes('read_models.payments_v1') || (await tablesWithWord()).length > 1)
  t.same(logsWithWord(), [])
  t.notOk(isIn(Buffer.from(system.output())))
  t.equal(await isInRedis(), false)
  await waitFor(() => collector.spans.some(({ name }) => name.includes('refunds')), { what: 'spans' })
  t.notOk(collector.requests.some(({ body }) => isIn(Buffer.from(body))))
  t.notOk((await tablesWithWord()).some((name) => name.startsWith('event_store.') || name.startsWith('operations.')))
})

t.test('an export has all that is known of a person, in a file for its owner only', async (t) => {
  const out = join(home, 'person.json')
  await ops('privacy', 'export', '--email', userEmail, '--out', out)
  const exported = JSON.parse(readFileSync(out, 'utf8'))
  t.same(exported.user_ids, [userId])
  t.ok(exported.read_models.payments.length >= 2 && exported.read_models.addresses.length === 1)
  const text = JSON.stringify(exported)
  for (const part of [texts.description, texts.return_url, address.tax_id, method.alias, `asked by ${word}`])
    t.ok(text.includes(part), part)
  t.notOk(text.includes(traces.anonymous))
  rmSync(out)
})

t.test('an erasure of user, guest and anonymous payer reports ids only, and completes', async (t) => {
  const dry = JSON.parse(await ops('privacy', 'erase', '--email', userEmail, '--dry-run', '--json'))
  t.match(dry, { dry_run: true, keys: 1, user_ids: [userId], payments: { count: 2 }, addresses: { count: 1 } })
  const done = JSON.parse(await ops('privacy', 'erase', '--email', userEmail, '--json', '--reason', 'Ticket 4711'))
  t.match(done, { is_complete: true, behind: [], payments: dry.payments })
  const started = await send('POST', '/admin/privacy/erasures', asAdmin, { guest_email: guestEmail })
  t.equal(started.status, 202)
  const job = await waitFor(
    async () => {
      const { data } = JSON.parse((await send('GET', `/admin/jobs/${idOf(started)}`, asAdmin)).body)
      return data.status !== 'running' && data
    },
    { what: 'the erasure', timeoutMs: 90_000 },
  )
  t.match(job, { status: 'succeeded', result: { is_complete: true, payments: { ids: [traces.ofGuest] } } })
  const anonymous = JSON.parse(await ops('privacy', 'erase', '--payment', traces.anonymous, '--json'))
  t.match(anonymous, { is_complete: true, payments: { ids: [traces.anonymous] } })
  t.match(await ops('privacy', 'list'), / person {2}1 keys /)
})

t.test('after an erasure and a scrub nothing of the person is left anywhere', async (t) => {
  t.same(await tablesWithWord(), [])
  const scrubbed = JSON.parse(await ops('privacy', 'scrub', '--json'))
  t.match(scrubbed, { is_complete: true, skipped: [] })
  t.same(await tablesWithWord(), [])
  t.same(filesWithWord(DATA_DIR), [])
  t.notOk(isIn(Buffer.from(system.output())))
  t.equal(await isInRedis(), false)
  const out = join(home, 'log.ndjson')
  await ops('streams', 'export', '--out', out)
  t.notOk(isIn(readFileSync(out)))
  for (const path of [
    ...['/admin/payments', '/admin/disputes', '/admin/audit-trail', '/admin/jobs', '/admin/webhook-deliveries'],
    ...['/admin/events', `/admin/payments/${traces.paid}`, `/admin/payments/${traces.paid}/history`],
    ...[`/admin/payments/${traces.paid}/events`, `/admin/payments?search=${userEmail}`],
    ...[`/admin/addresses?guest_email=${guestEmail}`, `/admin/payment-methods?user_id=${userId}`],
  ]) {
    const { status, body } = await send('GET', path, asAdmin)
    t.equal(status, 200, path)
    t.notOk(isIn(Buffer.from(body)), path)
  }
  const { data } = JSON.parse((await send('GET', `/admin/payments/${traces.paid}`, asAdmin)).body)
  t.match(data, { total_cents: 2200, status: 'succeeded', description: null, concept: null })
})

t.test('after an erasure verify, rebuild and a restart work', async (t) => {
  await ops('projections', 'verify', '--all')
  await ops('projections', 'rebuild', '--all')
  await ops('projections', 'prune')
  t.same(await tablesWithWord(), [])
  await system.stop()
  t.same(filesWithWord(DATA_DIR), [])
  t.ok(readdirSync(DATA_DIR).length > 0)
})
