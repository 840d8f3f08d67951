import { createTestDatabase } from '@paylog/testing/testDatabase'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { createLog } from '../telemetry/log.ts'
import { listen } from './listen.ts'
import { createPool } from './pool.ts'
import { shareSession } from './sharedSession.ts'

const log = createLog({ app: 'test', level: 'silent' })
const channel = 'Some channel'

/** A listener on its own database, and functions to notify it. */
async function startListener(t: Test) {
  const { databaseUrl } = await createTestDatabase(t)
  const pool = createPool({ databaseUrl, applicationName: 'notifier', max: 2, log })
  t.teardown(() => pool.end())
  const received: string[] = []
  const stop = new AbortController()
  const listening = listen({
    databaseUrl,
    channel,
    onNotification: (payload) => received.push(payload),
    signal: stop.signal,
    log,
  })
  const notify = (payload: string, to = channel) => pool.query('select pg_notify($1, $2)', [to, payload])
  // A session that is prepared only is idle too, and hears nothing yet. Once it listens, it is probed.
  const listeners = async () => {
    const { rows } = await pool.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'locks and channels' and datname = current_database()
       and state = 'idle' and (query like 'listen %' or query = 'select 1')`,
    )
    return rows.map(({ pid }) => pid)
  }
  t.teardown(async () => {
    stop.abort()
    await listening
  })
  await waitFor(async () => (await listeners()).length === 1, { what: 'the listener' })
  return { pool, received, stop, listening, notify, listeners }
}

t.test('listen receives notifications of its channel only, until its signal aborts', async (t) => {
  const { received, notify, stop, listening, listeners } = await startListener(t)
  await notify('a')
  await notify('x', 'some channel')
  await notify('b')
  await waitFor(() => received.length >= 2, { what: 'both' })
  t.same(received, ['a', 'b'])
  stop.abort()
  await listening
  await waitFor(async () => (await listeners()).length === 0, { what: 'the connection to be closed' })
})

t.test('listen reconnects after a lost connection', async (t) => {
  const { pool, received, notify, listeners } = await startListener(t)
  const [first] = await listeners()
  await pool.query('select pg_terminate_backend($1)', [first])
  await waitFor(async () => (await listeners()).some((pid) => pid !== first), { what: 'another connection' })
  await notify('again')
  await waitFor(() => received.includes('again'), { what: 'the next notification' })
})

t.test('several callers of a shared session at a time cause no warning of the driver', async (t) => {
  const warnings: string[] = []
  const remember = (warning: Error) => warnings.push(warning.message)
  process.on('warning', remember)
  t.teardown(() => process.off('warning', remember))
  const { databaseUrl } = await createTestDatabase(t)
  const shares = await Promise.all([shareSession(databaseUrl), shareSession(databaseUrl)])
  const held = await Promise.all(shares.flatMap((share) => ['1', '2', '3'].map((key) => share.tryLock(key))))
  t.equal(held.filter(Boolean).length, 3, 'each lock is held by one of them')
  await Promise.all(shares.map((share) => share.leave()))
  await new Promise(setImmediate)
  t.same(warnings, [])
})
