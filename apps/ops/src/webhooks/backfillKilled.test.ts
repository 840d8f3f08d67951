// Backfills that are killed or interrupted half way through.
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { endpointVariables, webhooksHarness } from '../testing/webhooksHarness.ts'

const patient = { timeoutMs: 30_000 }
const nowhere = 'http://127.0.0.1:9'

t.test('one that is killed half way is repeated, and nothing is there twice', async (t) => {
  const rig = await webhooksHarness(t)
  const raw = endpointVariables('1', nowhere, { EVENT_MODE: 'raw' })
  for (let round = 0; round < 5; round++) await rig.notify(100)
  const ids = await rig.idsOf('1', raw)
  t.equal(ids.length, 500)
  const other = await rig.pool.connect()
  try {
    // The last one is just being made by somebody else, who does not come to an end.
    await other.query('begin; set local idle_in_transaction_session_timeout = 0')
    await other.query(
      `insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
        source_event_id, correlation_id, causation_id, sweep_at, created_at)
      values ($1, '1', 'e', 'raw', 'p', '{}', 's', 0, $1, 'c', 'c', now(), now())`,
      [ids.at(-1)],
    )
    const running = rig.start(['backfill', '--node', '1', '--from', '0'], raw)
    await waitFor(async () => (await rig.rows('1')).length === 400, { what: 'all but the last slice', ...patient })
    running.signal('SIGKILL')
    t.match(await running.ended, { code: null })
    // Its statement would go on without it once it can.
    await rig.pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'paylog ops'
      and datname = current_database()`)
  } finally {
    await other.query('rollback')
    other.release()
  }
  const again = await rig.run(['backfill', '--node', '1', '--from', '0'], raw)
  t.match(again, { code: 0, stdout: '500 events: 100 deliveries made, 400 there before.\n' })
  t.same((await rig.rows('1')).map(({ id }) => id).toSorted(), ids.toSorted())
})

t.test('whoever interrupts it is told where it stands', async (t) => {
  const rig = await webhooksHarness(t)
  const raw = endpointVariables('1', nowhere, { EVENT_MODE: 'raw' })
  for (let round = 0; round < 5; round++) await rig.notify(100)
  const ids = await rig.idsOf('1', raw)
  const other = await rig.pool.connect()
  try {
    await other.query('begin; set local idle_in_transaction_session_timeout = 0')
    await other.query(
      `insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
        source_event_id, correlation_id, causation_id, sweep_at, created_at)
      values ($1, '1', 'e', 'raw', 'p', '{}', 's', 0, $1, 'c', 'c', now(), now())`,
      [ids[300]],
    )
    const running = rig.start(['backfill', '--node', '1', '--from', '0', '--json'], raw)
    await waitFor(async () => (await rig.rows('1')).length === 200, { what: 'the first slice', ...patient })
    running.signal('SIGINT')
    await waitFor(() => running.errors().includes('Stopping'), { what: 'the answer to the signal' })
    await other.query('rollback')
    const ended = await running.ended
    t.match(ended, { code: 1, stderr: /Interrupted\. Run it again for the rest: nothing is made twice\.\n$/ })
    t.match(JSON.parse(ended.stdout), { complete: false, events: 400, missing: 400 })
  } finally {
    other.release()
  }
  t.equal((await rig.rows('1')).length, 400)
})
