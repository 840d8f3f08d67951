import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '@paylog/testing/processes'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createHttp } from '../http/http.ts'
import { createLog } from '../telemetry/log.ts'
import { databaseAdvice, isDatabaseUnavailable } from './databaseErrors.ts'
import { createPool } from './pool.ts'
import { requireOwnSessions } from './session.ts'

const log = createLog({ app: 'test', level: 'silent' })

function poolOn(t: Test, databaseUrl: string, queryTimeoutMs = 5_000) {
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 2, queryTimeoutMs, log })
  t.teardown(() => pool.end())
  return pool
}

/** The error of the work. */
async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => {
      throw new Error('it should have failed')
    },
    (error: unknown) => error,
  )
}

t.test('a connection lost during a transaction fails the transaction, not the process', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const pool = poolOn(t, databaseUrl)
  const client = await pool.connect()
  await client.query('begin')
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const ended = new Promise((resolve) => client.once('end', resolve))
  await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid])
  await ended
  t.ok(isDatabaseUnavailable(await failureOf(client.query('select 1'))))
  client.release(true)
  t.equal((await pool.query('select 1 as one')).rows[0]?.one, 1)
})

t.test('isDatabaseUnavailable recognises unreachable connections and timeouts', async (t) => {
  const unreachable = `postgresql://x:x@127.0.0.1:${await freePort()}/x`
  t.ok(isDatabaseUnavailable(await failureOf(poolOn(t, unreachable).query('select 1'))))
  const { databaseUrl } = await createTestDatabase(t)
  t.ok(isDatabaseUnavailable(await failureOf(poolOn(t, databaseUrl, 300).query('select pg_sleep(2)'))), 'query timeout')
})

t.test(
  'a connection that is idle for longer than the query timeout is kept, and later queries are limited',
  async (t) => {
    const { databaseUrl } = await createTestDatabase(t)
    const pool = poolOn(t, databaseUrl, 300)
    const pid = 'select pg_backend_pid() as pid'
    const { rows: before } = await pool.query(pid)
    await pause(700)
    await pool.query('select pg_sleep(0.2)')
    t.same((await pool.query(pid)).rows, before)
    const client = await pool.connect()
    const queued = [client.query(pid), client.query('select pg_sleep(2)')]
    const [first, second] = await Promise.allSettled(queued)
    client.release(true)
    t.equal(first?.status, 'fulfilled')
    t.match(second, { status: 'rejected', reason: { message: 'Query read timeout' } })
  },
)

t.test('a login that Postgres refuses ends the start, and its variable is named', async (t) => {
  const url = new URL((await createTestDatabase(t)).databaseUrl)
  url.password = 'wrong'
  const error = await failureOf(requireOwnSessions(poolOn(t, url.href)))
  t.notOk(isDatabaseUnavailable(error))
  t.match(error instanceof Error && databaseAdvice(error), /^Postgres refuses the login in DATABASE_URL: password auth/)
})

t.test('isDatabaseUnavailable is false for statement errors and all other errors', async (t) => {
  const { databaseUrl } = await createTestDatabase(t)
  const pool = poolOn(t, databaseUrl)
  for (const statement of ['select nothing', 'select 1/0', 'selec 1'])
    t.notOk(isDatabaseUnavailable(await failureOf(pool.query(statement))), statement)
  for (const other of [new Error('x'), new pg.DatabaseError('x', 1, 'error'), undefined, 'x'])
    t.notOk(isDatabaseUnavailable(other))
})

t.test('requests get 503 while the database is unavailable', async (t) => {
  const pool = poolOn(t, `postgresql://x:x@127.0.0.1:${await freePort()}/x`)
  const http = createHttp({ log })
  http.get('/', async () => pool.query('select 1'))
  const response = await http.inject('/')
  t.equal(response.statusCode, 503)
  t.match(response.json(), { success: false, error: { code: 'service_unavailable' } })
})
