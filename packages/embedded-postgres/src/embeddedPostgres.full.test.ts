import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '@paylog/runtime/telemetry/log'
import { freePort, startProcess } from '@paylog/testing/processes'
import pg from 'pg'
import t, { type Test } from 'tap'
import { startEmbeddedPostgres } from './embeddedPostgres.ts'

const log = createLog({ app: 'test', level: 'silent' })
const owner = new URL('fixtures/postgresOwner.ts', import.meta.url)

// In a directory closed to other users, like a clone in root's home. t.testdir would not be: its parents are readable.
function testDirectory(t: Test): string {
  const closed = mkdtempSync(join(tmpdir(), 'paylog-embedded-'))
  chmodSync(closed, 0o700)
  t.teardown(() => rmSync(closed, { recursive: true, force: true }))
  const directory = join(closed, 'postgres')
  mkdirSync(directory)
  return directory
}

/** Starts Postgres and stops it at the end of the test. */
async function start(t: Test, options: { readonly directory: string; readonly port: number }) {
  const started = await startEmbeddedPostgres({ ...options, log })
  t.teardown(() => started.stop())
  return started
}

async function query(databaseUrl: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

t.test(
  'a new database is private to this machine, keeps its data, and recovers after its process is killed',
  async (t) => {
    const directory = testDirectory(t)
    const first = await start(t, { directory, port: await freePort() })
    await query(first.databaseUrl, 'create table kept as select 7 as number')
    const settings = await query(
      first.superuserUrl,
      `select current_setting('listen_addresses') as addresses, current_setting('fsync') as fsync,
       current_setting('unix_socket_directories') as sockets, lower('ÉCOLE') as lower, current_database() as name`,
    )
    t.strictSame(settings, [{ addresses: '127.0.0.1', fsync: 'on', sockets: '', lower: 'école', name: 'paylog' }])

    const wrongPassword = new URL(first.databaseUrl)
    wrongPassword.password = 'guessed'
    await t.rejects(query(wrongPassword.href, 'select 1'), { code: '28P01' })
    for (const file of ['password', 'superuser-password'])
      t.equal(statSync(join(directory, file)).mode & 0o777, 0o600, file)
    await first.stop()
    await first.stop()
    t.notOk(first.lost.aborted, 'a requested stop is not reported as lost')

    const port = String(await freePort())
    const killed = await startProcess(t, { script: owner, env: { PORT: port, DIRECTORY: directory } })
    const { databaseUrl } = killed.detail
    t.type(databaseUrl, 'string')
    await t.rejects(start(t, { directory, port: await freePort() }), {
      message: `the database in ${directory} is in use by process ${killed.pid}`,
    })
    await killed.kill('SIGKILL')
    t.strictSame(
      await query(String(databaseUrl), 'select number from kept'),
      [{ number: 7 }],
      'the orphaned Postgres still runs',
    )

    const second = await start(t, { directory, port: await freePort() })
    t.strictSame(await query(second.databaseUrl, 'select number from kept'), [{ number: 7 }])
    await t.rejects(
      query(String(databaseUrl), 'select 1'),
      { code: 'ECONNREFUSED' },
      'the orphaned Postgres is stopped',
    )

    const lost = once(second.lost, 'abort')
    const pid = Number.parseInt(readFileSync(join(directory, 'cluster', 'postmaster.pid'), 'utf8'), 10)
    // `lost` must abort even without a log file.
    rmSync(join(directory, 'postgres.log'))
    process.kill(pid, 'SIGKILL')
    await lost
    t.equal(second.lost.reason.message, 'Postgres ended (SIGKILL): no log output')
  },
)

t.test('the role of the service owns its database and is not a superuser', async (t) => {
  const { databaseUrl, superuserUrl } = await start(t, { directory: testDirectory(t), port: await freePort() })
  const role =
    'select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls from pg_roles where rolname = current_user'
  const none = { rolsuper: false, rolcreatedb: false, rolcreaterole: false, rolreplication: false, rolbypassrls: false }
  t.strictSame(await query(databaseUrl, role), [none])
  await query(databaseUrl, 'create extension pg_trgm')
  for (const statement of [
    "copy (select 1) to program 'true'",
    "select pg_read_file('/etc/passwd')",
    'create role another',
  ])
    await t.rejects(query(databaseUrl, statement), { code: '42501' }, statement)
  t.match(await query(superuserUrl, role), [{ rolsuper: true }])
})

t.test('starting on a port that is in use fails with a message that names the port', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const address = other.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  await t.rejects(start(t, { directory: testDirectory(t), port }), {
    message: `port ${port} on 127.0.0.1 is in use`,
  })
})

t.test('Postgres shuts down cleanly when the process that started it stops', async (t) => {
  const directory = testDirectory(t)
  const app = await startProcess(t, { script: owner, env: { PORT: String(await freePort()), DIRECTORY: directory } })
  await app.stop()
  t.strictSame(await app.exited, { code: 0, signal: null })
  await t.rejects(query(String(app.detail.databaseUrl), 'select 1'), { code: 'ECONNREFUSED' })
  t.match(readFileSync(join(directory, 'postgres.log'), 'utf8'), 'database system is shut down')
})
