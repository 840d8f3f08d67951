import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import { waitFor } from '@paylog/testing/waitFor'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createLog } from '../telemetry/log.ts'
import { holdLock } from './lock.ts'
import { migrate } from './migrate.ts'
import { createPool } from './pool.ts'

const log = createLog({ app: 'test', level: 'silent' })

async function testPools(t: Test, count: number): Promise<pg.Pool[]> {
  const { databaseUrl } = await createTestDatabase(t)
  const pools = Array.from({ length: count }, () => createPool({ databaseUrl, applicationName: 'test', max: 2, log }))
  // Teardowns run in reverse, so the database is dropped after its connections are closed.
  t.teardown(() => Promise.all(pools.map((pool) => pool.end())))
  return pools
}

async function testPool(t: Test): Promise<pg.Pool> {
  const [pool] = await testPools(t, 1)
  if (!pool) throw new Error('no pool')
  return pool
}

const files = {
  '001_payments.sql': 'create table payments (id int primary key); select pg_sleep(0.05);',
  '002_methods.sql': 'create table methods (id int); insert into payments values (1);',
}

t.test('a pool reads int8 as bigint without changing the global parsers of pg', async (t) => {
  const pool = await testPool(t)
  const { rows } = await pool.query('select 9007199254740993::int8 as position, 7::int4 as small')
  t.strictSame(rows, [{ position: 9007199254740993n, small: 7 }])
  t.equal(pg.types.getTypeParser(20)('1'), '1')
})

t.test('a pool cancels a statement that runs too long, and survives a lost idle connection', async (t) => {
  const pool = await testPool(t)
  const { rows } = await pool.query("select current_setting('statement_timeout') as statement_timeout")
  t.strictSame(rows, [{ statement_timeout: '15s' }])
  const connection = await pool.connect()
  const { rows: pids } = await connection.query<{ pid: number }>('select pg_backend_pid() as pid')
  connection.release()
  const other = await testPoolOn(t, pool)
  const removed = new Promise((resolve) => pool.once('remove', resolve))
  await other.query('select pg_terminate_backend($1)', [pids[0]?.pid])
  await removed
  t.same((await pool.query('select 1 as one')).rows, [{ one: 1 }])
})

async function testPoolOn(t: Test, pool: pg.Pool): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: pool.options.connectionString ?? '' })
  await client.connect()
  t.teardown(() => client.end())
  return client
}

t.test('concurrent migrate calls apply each file once', async (t) => {
  const pools = await testPools(t, 4)
  const directory = pathToFileURL(t.testdir(files))
  const applied = await Promise.all(pools.map((pool) => migrate(pool, { schema: 'read_models', directory })))
  t.strictSame(applied.flat(), ['001_payments.sql', '002_methods.sql'])
  const { rows } = (await pools[0]?.query('select id from read_models.payments')) ?? { rows: [] }
  t.strictSame(rows, [{ id: 1 }])
})

t.test('migrate applies only new files, per schema', async (t) => {
  const pool = await testPool(t)
  const root = t.testdir(files)
  const directory = pathToFileURL(root)
  t.equal((await migrate(pool, { schema: 'a', directory })).length, 2)
  t.equal((await migrate(pool, { schema: 'Odd "name', directory })).length, 2)
  writeFileSync(`${root}/003_more.sql`, 'create table more (id int);')
  t.strictSame(await migrate(pool, { schema: 'a', directory }), ['003_more.sql'])
  t.strictSame(await migrate(pool, { schema: 'a', directory }), [])
})

t.test('a failed migration file is rolled back and named in the error', async (t) => {
  const pool = await testPool(t)
  const directory = pathToFileURL(t.testdir({ ...files, '003_bad.sql': 'create table half (id int); select 1/0;' }))
  await t.rejects(migrate(pool, { schema: 'a', directory }), {
    message: 'the migration 003_bad.sql failed: division by zero',
  })
  const { rows } = await pool.query(
    "select table_name from information_schema.tables where table_schema = 'a' order by 1",
  )
  t.strictSame(
    rows.map(({ table_name }) => table_name),
    ['methods', 'migrations', 'payments'],
  )
})

t.test('migrate rejects files that were changed, are out of order or have no number', async (t) => {
  const pool = await testPool(t)
  const run = (content: Record<string, string>) =>
    migrate(pool, { schema: 'a', directory: pathToFileURL(t.testdir(content)) })
  await run(files)
  await t.rejects(
    run({ ...files, '001_payments.sql': 'select 1' }),
    /001_payments.sql was changed .*another version of Paylog/,
  )
  await t.rejects(run({ ...files, '001_late.sql': 'select 1' }), /001_late.sql precedes 002_methods.sql/)
  await t.rejects(run({ ...files, 'more.sql': 'select 1' }), /more.sql must have a name like/)
})

t.test('holdLock has one holder at a time, and the next gets the lock on release', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const { signal } = new AbortController()
  let isWaiting = false
  const waiting = () => {
    isWaiting = true
  }
  const first = await holdLock({ databaseUrl, name: 'payments@1', onWaiting: waiting, signal, log })
  t.notOk(isWaiting)
  const other = await holdLock({ databaseUrl, name: 'payments@2', signal, log })
  let isSecond = false
  const second = holdLock({ databaseUrl, name: 'payments@1', onWaiting: waiting, signal, log }).then((lock) => {
    isSecond = true
    return lock
  })
  await other.release()
  await waitFor(() => isWaiting, { what: 'onWaiting of the second' })
  t.notOk(isSecond)
  await first.release()
  t.notOk(first.lost.aborted, 'a released lock is not lost')
  await (await second).release()
})

t.test('holdLock stops waiting when its signal aborts', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const holder = await holdLock({ databaseUrl, name: 'a', signal: new AbortController().signal, log })
  const waiting = new AbortController()
  const wait = holdLock({ databaseUrl, name: 'a', signal: waiting.signal, log })
  waiting.abort(new Error('stopping'))
  await t.rejects(wait, { message: 'stopping' })
  await holder.release()
})

t.test('a lock is lost when its session ends, and a standby takes over', async (t) => {
  const pool = await testPool(t)
  const databaseUrl = pool.options.connectionString ?? ''
  const { signal } = new AbortController()
  const holder = await holdLock({ databaseUrl, name: 'a', signal, log })
  const standby = holdLock({ databaseUrl: asAnotherProcess(databaseUrl), name: 'a', signal, log })
  const lost = once(holder.lost, 'abort')
  // Other tests hold locks in other databases of this server.
  await pool.query(`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
    and database = (select oid from pg_database where datname = current_database())`)
  await lost
  t.match(holder.lost.reason, /lock a was lost/)
  await (await standby).release()
})

t.test('a lock is lost when the server stops responding', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const target = new URL(databaseUrl)
  const proxy = await startTcpProxy(t, Number(target.port))
  target.port = String(proxy.port)
  const holder = await holdLock({ databaseUrl: target.href, name: 'a', signal: new AbortController().signal, log })
  proxy.freezeConnections()
  await once(holder.lost, 'abort')
  t.pass('the loss is detected')
})

t.test('a lock that is released during a probe does not count as lost', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const target = new URL(databaseUrl)
  const proxy = await startTcpProxy(t, Number(target.port))
  target.port = String(proxy.port)
  const holder = await holdLock({ databaseUrl: target.href, name: 'a', signal: new AbortController().signal, log })
  proxy.freezeConnections()
  await proxy.requestHeld()
  await holder.release()
  t.notOk(holder.lost.aborted)
})

/** Callers with the same URL share a session. */
function asAnotherProcess(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  url.searchParams.set('fallback_application_name', 'another process')
  return url.href
}

t.test('locks and channels of a process share one session, and one that is given up leaves the others', async (t) => {
  const pool = await testPool(t)
  const databaseUrl = pool.options.connectionString ?? ''
  const { signal } = new AbortController()
  const [first, second] = [
    await holdLock({ databaseUrl, name: 'first', signal, log }),
    await holdLock({ databaseUrl, name: 'second', signal, log }),
  ]
  const held = async () => {
    const { rows } = await pool.query<{ pid: number }>(`select pid from pg_locks where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())`)
    return rows.map(({ pid }) => pid)
  }
  t.equal(new Set(await held()).size, 1)
  t.equal((await held()).length, 2)
  await first.release()
  t.equal((await held()).length, 1)
  t.notOk(second.lost.aborted)
  const again = await holdLock({ databaseUrl: asAnotherProcess(databaseUrl), name: 'first', signal, log })
  await again.release()
  await second.release()
  await waitFor(async () => (await held()).length === 0, { what: 'the end of the session' })
})
