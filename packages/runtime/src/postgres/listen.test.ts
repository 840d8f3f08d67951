import { createTestDatabase } from '@paylog/testing/testDatabase'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { createLog } from '../telemetry/log.ts'
import { listen } from './listen.ts'
import { createPool } from './postgres.ts'

const log = createLog({ app: 'test', level: 'silent' })
const channel = 'Some channel'

/** A listener on a database of its own, and whoever tells it something. */
async function startListener(t: Test) {
  const { databaseUrl } = await createTestDatabase(t)
  const pool = createPool({ databaseUrl, applicationName: 'teller', max: 2, log })
  t.teardown(() => pool.end())
  const heard: string[] = []
  const stop = new AbortController()
  const listening = listen({
    databaseUrl,
    channel,
    onNotification: (payload) => heard.push(payload),
    signal: stop.signal,
    log,
  })
  const tell = (payload: string, to = channel) => pool.query('select pg_notify($1, $2)', [to, payload])
  const listeners = async () => {
    const { rows } = await pool.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name like 'listen %' and datname = current_database()
       and query like 'listen%' and state = 'idle'`,
    )
    return rows.map(({ pid }) => pid)
  }
  t.teardown(async () => {
    stop.abort()
    await listening
  })
  await waitFor(async () => (await listeners()).length === 1, { what: 'the listener' })
  return { pool, heard, stop, listening, tell, listeners }
}

t.test('hears what is told on its channel alone, until it is told to stop', async (t) => {
  const { heard, tell, stop, listening, listeners } = await startListener(t)
  await tell('a')
  await tell('x', 'some channel')
  await tell('b')
  await waitFor(() => heard.length >= 2, { what: 'both' })
  t.same(heard, ['a', 'b'])
  stop.abort()
  await listening
  await waitFor(async () => (await listeners()).length === 0, { what: 'the connection to be closed' })
})

t.test('a connection that is lost is made anew', async (t) => {
  const { pool, heard, tell, listeners } = await startListener(t)
  const [first] = await listeners()
  await pool.query('select pg_terminate_backend($1)', [first])
  await waitFor(async () => (await listeners()).some((pid) => pid !== first), { what: 'another connection' })
  await tell('again')
  await waitFor(() => heard.includes('again'), { what: 'what is told then' })
})
