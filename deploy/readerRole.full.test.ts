// The login of the query API: created by roles.sql, with the grants of `ops migrate`.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import { startProcess } from '@paylog/testing/processes'
import { moduleLoading } from '@paylog/testing/testEnvironment'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createRoles, type TestRoles } from './testing/roles.ts'

const ops = fileURLToPath(new URL('../apps/ops/src/main.ts', import.meta.url))
const run = promisify(execFile)

const migrate = ({ ownerUrl }: TestRoles, role?: string) =>
  run(process.execPath, [ops, 'migrate', '--json'], {
    env: { ...moduleLoading, DATABASE_URL: ownerUrl, ...(role !== undefined && { READER_ROLE: role }) },
  }).then(({ stdout }): { read_models: string[]; readable: string[] } => JSON.parse(stdout))

async function connected(t: Test, connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  t.teardown(() => client.end())
  return client
}

t.test('the query API works with a login that may only read views', async (t) => {
  const roles = await createRoles(t)
  await migrate(roles, roles.reader)
  const { authUrl } = await startFakeIdentity(t)
  const env = { PORT: '0', DATABASE_URL: roles.loginUrl, AUTH_URL: authUrl, LOG_LEVEL: 'warn' }
  const api = await startProcess(t, { script: new URL('../apps/query-api/src/main.ts', import.meta.url), env })
  const admin = { 'x-session-id': 'demo-admin-session' }
  const get = (path: string, headers: Record<string, string> = admin) =>
    fetch(`${String(api.detail.url)}${path}`, { headers })
  for (const path of ['/payments', '/payment-methods', '/addresses', '/admin/products', '/webhooks/logs']) {
    const list = await get(`${path}?limit=5`)
    t.equal(list.status, 200, `${path}: ${await list.text()}`)
    const one = await get(`${path}/00000000-0000-4000-8000-00000000000f`)
    t.equal(one.status, 404, `${path}/…: ${await one.text()}`)
  }
  for (const query of ['search=x', 'status=succeeded', 'orderBy=created_at&orderDir=asc', 'include=payment_method']) {
    t.equal((await get(`/payments?${query}`)).status, 200, query)
  }
  const owner = await connected(t, roles.ownerUrl)
  const notifications: string[] = []
  owner.on('notification', ({ payload = '' }) => notifications.push(payload))
  await owner.query('listen awaited_reads')
  const stale = await get('/payments', { ...admin, 'x-read-after': '99999999' })
  t.match({ status: stale.status, stale: stale.headers.get('x-read-stale') }, { status: 200, stale: 'true' })
  await owner.query('select 1')
  t.ok(notifications.includes('payments'), 'the projector is notified of the waiting read')
  const ready = await get('/health/ready')
  const body = await ready.text()
  t.equal(ready.status, 200, body)
  t.notMatch(body, '"known":false', 'the webhook metrics are available')
  t.match(await (await get('/metrics')).text(), /projection_stopped\{projection="payments"\} 0/)
  t.notMatch(api.output(), /permission denied/)
})

t.test('the reader login cannot read tables or write anything', async (t) => {
  const roles = await createRoles(t)
  await migrate(roles, roles.reader)
  const [owner, login] = await Promise.all([connected(t, roles.ownerUrl), connected(t, roles.loginUrl)])
  // Not even without its default read-only setting.
  await login.query('set default_transaction_read_only = off')
  const { rows: relations } = await owner.query<{ name: string; kind: string }>(
    `select format('%I.%I', nspname, relname) as name, relkind as kind from pg_class
     join pg_namespace on pg_namespace.oid = relnamespace
     where nspname in ('read_models', 'webhooks') and relkind in ('r', 'v', 'S', 'm', 'p')`,
  )
  const views = relations.filter(({ kind }) => kind === 'v')
  t.ok(views.length >= 9 && relations.length > views.length)
  for (const { name, kind } of relations) {
    const read = login.query(`select * from ${name}`)
    if (kind === 'v') await t.resolves(read, `${name} can be read`)
    else await t.rejects(read, { code: '42501' }, `${name} cannot be read`)
    await t.rejects(login.query(`delete from ${name}`), { code: /42501|42809|55000/ }, `${name} cannot be emptied`)
  }
  for (const statement of [
    'create table read_models.mine (id int)',
    'create table public.mine (id int)',
    'create temporary table mine (id int)',
    'create schema mine',
    'drop view read_models.payments',
    'select * from webhooks.log for update',
  ])
    await t.rejects(login.query(statement), { code: '42501' }, statement)
  const { rows: functions } = await login.query(
    `select proname from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
     where nspname not in ('pg_catalog', 'information_schema') and has_schema_privilege(nspname, 'usage')
     and has_function_privilege(pg_proc.oid, 'execute') and (prosecdef or provolatile = 'v')`,
  )
  t.same(
    functions.filter(({ proname }) => proname !== 'set_limit'),
    [],
    'no function writes on its behalf; set_limit only changes the session',
  )
})

t.test('the reader login cannot write where Postgres allows every role to write', async (t) => {
  const roles = await createRoles(t)
  const login = await connected(t, roles.loginUrl)
  const { rows } = await login.query("select current_setting('server_version_num')::int as version")
  if (rows[0].version < 160_000) t.comment('NOT TESTED: before Postgres 16 every role may write large objects')
  else await t.rejects(login.query("select lo_from_bytea(0, 'x')"), { code: '25006' })
})

t.test('migrate keeps grants of the reader role and adds them to new views', async (t) => {
  const roles = await createRoles(t)
  t.match(await migrate(roles), { readable: [] })
  const first = await migrate(roles, roles.reader)
  t.match(first.read_models, [])
  t.ok(first.readable.includes('read_models.payments') && first.readable.includes('webhooks.log'))
  t.match(await migrate(roles, roles.reader), { readable: [] })
  const [owner, login] = await Promise.all([connected(t, roles.ownerUrl), connected(t, roles.loginUrl)])
  await owner.query('create view webhooks.later as select 1 as one')
  t.match(await migrate(roles, roles.reader), { readable: ['webhooks.later'] })
  t.same((await login.query('select * from webhooks.later')).rows, [{ one: 1 }])
  await run(process.execPath, [ops, 'migrate', '--json'], {
    env: { ...moduleLoading, DATABASE_URL: roles.ownerUrl },
  })
  t.same((await login.query('select * from webhooks.later')).rows, [{ one: 1 }], 'also without READER_ROLE')
})

t.test('migrate rejects an unknown READER_ROLE before it changes anything', async (t) => {
  const roles = await createRoles(t)
  await t.rejects(migrate(roles, 'nobody_at_all'), {
    code: 1,
    stderr: 'READER_ROLE: there is no role nobody_at_all: create it in Postgres (create role "nobody_at_all")',
  })
  const owner = await connected(t, roles.ownerUrl)
  t.same((await owner.query("select to_regnamespace('read_models') as made")).rows, [{ made: null }])
})

t.test('two concurrent migrations apply each change once', async (t) => {
  const roles = await createRoles(t)
  const both = await Promise.all([migrate(roles, roles.reader), migrate(roles, roles.reader)])
  const readable = both.flatMap((one) => one.readable)
  t.ok(readable.includes('read_models.payments'))
  t.equal(new Set(readable).size, readable.length)
  t.equal(both.flatMap(({ read_models }) => read_models).filter((name) => name === '001_read_models.sql').length, 1)
})
