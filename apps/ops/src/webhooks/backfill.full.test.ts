// Backfills that are killed or interrupted half way, or run beside a real worker, which sends their deliveries.

import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { endpointVariables, webhooksHarness } from '../testing/webhooksHarness.ts'

const longTimeout = { timeoutMs: 30_000 }
const raw = endpointVariables('1', 'http://127.0.0.1:9', { EVENT_MODE: 'raw' })
/** Deliveries in one statement. */
const slice = 100
const backfill = ['backfill', '--node', '1', '--from', '0']

/** Starts a backfill of 500 deliveries, and waits until it waits for a transaction that creates one of them and does not end. */
async function startBlocked(t: Test, blockedAt: number, ...flags: string[]) {
  const harness = await webhooksHarness(t)
  const { pool, rows, notify, start } = harness
  for (let round = 0; round < 5; round++) await notify(100)
  const ids = await harness.idsOf('1', raw)
  t.equal(ids.length, 500)
  const other = await pool.connect()
  t.teardown(() => other.release())
  await other.query('begin; set local idle_in_transaction_session_timeout = 0')
  await other.query(
    `insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
      source_event_id, correlation_id, causation_id, next_attempt_at, created_at)
    values ($1, '1', 'e', 'raw', 'p', '{}', 's', 0, $1, 'c', 'c', now(), now())`,
    [ids[blockedAt]],
  )
  const running = start([...backfill, ...flags], raw)
  await waitFor(async () => (await rows('1')).length === blockedAt - (blockedAt % slice), {
    what: 'the slices before it',
    ...longTimeout,
  })
  await harness.blocked()
  return { ...harness, ids, running, unblock: () => other.query('rollback') }
}

t.test('a backfill that is killed and repeated creates each delivery once', async (t) => {
  const { ids, running, endSessions, unblock, run, rows } = await startBlocked(t, 499)
  running.signal('SIGKILL')
  t.match(await running.ended, { code: null })
  await endSessions()
  await unblock()
  t.match(await run(backfill, raw), {
    code: 0,
    stdout: '500 events: 100 deliveries created, 400 already there.\n',
  })
  t.same((await rows('1')).map(({ id }) => id).toSorted(), ids.toSorted())
})

t.test('an interrupted backfill reports what it has created', async (t) => {
  const { running, unblock, rows } = await startBlocked(t, 300, '--json')
  running.signal('SIGINT')
  await waitFor(() => running.errors().includes('Stopping'), { what: 'the message about the signal' })
  await unblock()
  const { code, stdout, stderr } = await running.ended
  t.equal(code, 1)
  t.match(stderr, /Interrupted\. Run the command again for the rest: nothing is created twice\.\n$/)
  t.match(JSON.parse(stdout), { complete: false, events: 400 })
  t.equal((await rows('1')).length, 400)
})

t.test('a backfill beside a busy worker sends each webhook once', async (t) => {
  const harness = await webhooksHarness(t)
  const endpoint = await startFakeEndpoint(t)
  const raw = endpointVariables('1', endpoint.url, { EVENT_MODE: 'raw' })
  for (let round = 0; round < 3; round++) await harness.notify(100)
  await harness.startWorker(raw)
  const writing = (async () => {
    for (let round = 0; round < 5; round++) await harness.notify(20)
  })()
  const runs = await Promise.all([1, 2].map(() => harness.run(['backfill', '--node', '1', '--from', '0'], raw)))
  await writing
  t.ok(runs.some(({ code }) => code === 0))
  const refused = /^Either a backfill of 1 or 4 other jobs are running; try again when one has ended \(job_running\)\n$/
  for (const { code, stderr } of runs)
    if (code !== 0) t.match(stderr.replaceAll(/^(Reading|Waiting).*\n/gm, ''), refused, 'one at a time')
  await waitFor(() => endpoint.received.length >= 400, { what: 'all webhooks', timeoutMs: 40_000 })
  const left = async () => (await harness.rows('1')).every(({ status }) => status === 'succeeded')
  await waitFor(left, { what: 'the record of all', timeoutMs: 30_000 })
  t.same(endpoint.received.map(({ id }) => id).toSorted(), (await harness.idsOf('1', raw)).toSorted())
})
