// Backfills that are killed or interrupted half way.
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { endpointVariables, webhooksHarness } from '../testing/webhooksHarness.ts'

const longTimeout = { timeoutMs: 30_000 }
const nowhere = 'http://127.0.0.1:9'

t.test('a backfill that is killed and repeated creates each delivery once', async (t) => {
  const harness = await webhooksHarness(t)
  const raw = endpointVariables('1', nowhere, { EVENT_MODE: 'raw' })
  for (let round = 0; round < 5; round++) await harness.notify(100)
  const ids = await harness.idsOf('1', raw)
  t.equal(ids.length, 500)
  const other = await harness.pool.connect()
  try {
    // Another transaction is creating the last delivery and does not end.
    await other.query('begin; set local idle_in_transaction_session_timeout = 0')
    await other.query(
      `insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
        source_event_id, correlation_id, causation_id, next_attempt_at, created_at)
      values ($1, '1', 'e', 'raw', 'p', '{}', 's', 0, $1, 'c', 'c', now(), now())`,
      [ids.at(-1)],
    )
    const running = harness.start(['backfill', '--node', '1', '--from', '0'], raw)
    await waitFor(async () => (await harness.rows('1')).length === 400, {
      what: 'all but the last slice',
      ...longTimeout,
    })
    running.signal('SIGKILL')
    t.match(await running.ended, { code: null })
    // Otherwise its statement would continue once it gets the lock.
    await harness.pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'paylog ops'
      and datname = current_database()`)
  } finally {
    await other.query('rollback')
    other.release()
  }
  const again = await harness.run(['backfill', '--node', '1', '--from', '0'], raw)
  t.match(again, { code: 0, stdout: '500 events: 100 deliveries created, 400 already there.\n' })
  t.same((await harness.rows('1')).map(({ id }) => id).toSorted(), ids.toSorted())
})

const blockedSql = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

t.test('an interrupted backfill reports what it has created', async (t) => {
  const harness = await webhooksHarness(t)
  const raw = endpointVariables('1', nowhere, { EVENT_MODE: 'raw' })
  for (let round = 0; round < 5; round++) await harness.notify(100)
  const ids = await harness.idsOf('1', raw)
  const other = await harness.pool.connect()
  try {
    await other.query('begin; set local idle_in_transaction_session_timeout = 0')
    await other.query(
      `insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
        source_event_id, correlation_id, causation_id, next_attempt_at, created_at)
      values ($1, '1', 'e', 'raw', 'p', '{}', 's', 0, $1, 'c', 'c', now(), now())`,
      [ids[300]],
    )
    const running = harness.start(['backfill', '--node', '1', '--from', '0', '--json'], raw)
    await waitFor(async () => (await harness.rows('1')).length === 300, { what: 'three slices', ...longTimeout })
    await waitFor(async () => (await harness.pool.query(blockedSql)).rowCount === 1, {
      what: 'the fourth slice to wait',
    })
    running.signal('SIGINT')
    await waitFor(() => running.errors().includes('Stopping'), { what: 'the message about the signal' })
    await other.query('rollback')
    const ended = await running.ended
    t.match(ended, {
      code: 1,
      stderr: /Interrupted\. Run the command again for the rest: nothing is created twice\.\n$/,
    })
    t.match(JSON.parse(ended.stdout), { complete: false, events: 400, missing: 400 })
  } finally {
    other.release()
  }
  t.equal((await harness.rows('1')).length, 400)
})
