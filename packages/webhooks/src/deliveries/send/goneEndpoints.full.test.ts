import type { ServerResponse } from 'node:http'
import { matchList } from '@paylog/testing/assertions'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { clockStart, createFakeClockHarness, type FakeClockHarness } from '../../testing/fakeClockHarness.ts'
import { enableEndpoint } from '../operations/redelivery.ts'

const hourMs = 3_600_000

/** Like `ops webhooks enable`. */
const enable = ({ worker, settings }: FakeClockHarness) => enableEndpoint(worker.pool, '1', new Date(settings.time))

t.test('410 pauses the endpoint and holds its deliveries until an operator enables it [10.4-gone]', async (t) => {
  const harness = await createFakeClockHarness(t, [{ status: 410 }, { status: 500 }, { status: 200 }])
  const [gone, untried] = await harness.deliver(2)
  if (gone === undefined || untried === undefined) throw new Error('no delivery is due')
  t.equal(await harness.send(gone), undefined, 'no retry is scheduled')
  await harness.worker.deliveries.release([untried.id])
  const held = { status: 'pending', attempts: 1, next_attempt_at: null, last_http_status: 410, last_error: 'gone' }
  t.match(await harness.worker.row(gone.id), held)
  harness.settings.time += 48 * hourMs
  t.same(await harness.worker.claim('1'), [], 'a paused endpoint gets no requests')

  await enable(harness)
  const due = await harness.worker.claim('1')
  t.same(new Set(due.map(({ attempts }) => attempts)), new Set([0, 1]), 'both are due, and attempt numbers continue')
  for (const delivery of due.toSorted((one, other) => other.attempts - one.attempts))
    t.equal(await harness.send(delivery), delivery.id === gone.id ? 5_000 : undefined, 'the retry schedule restarts')
  t.match(await harness.worker.row(untried.id), { status: 'succeeded', attempts: 1 })
})

t.test('410 on the last attempt holds the delivery too, and enabling the endpoint restarts its schedule', async (t) => {
  const harness = await createFakeClockHarness(t, [{ status: 500 }, { status: 410 }, { status: 500 }], {
    WEBHOOK_1_RETRY_SCHEDULE: '5s',
  })
  const { id, pauses } = await harness.pauses()
  t.same(pauses, [5_000])
  t.match(await harness.worker.row(id), { status: 'pending', attempts: 2, next_attempt_at: null })
  await enable(harness)
  const [due] = await harness.worker.claim('1')
  t.equal(due && (await harness.send(due)), 5_000)
  t.match(await harness.worker.row(id), { status: 'pending', attempts: 3 })
})

t.test('many simultaneous 410 responses pause the endpoint with one log entry', async (t) => {
  const responses: ServerResponse[] = []
  const held = await startFakeEndpoint(t, (response) => responses.push(response))
  const harness = await createFakeClockHarness(t, [], { WEBHOOK_1_URL: held.url })
  const attempts = await harness.deliver(20)
  const sent = Promise.all(attempts.map((attempt) => harness.send(attempt)))
  await waitFor(() => responses.length === 20, { what: 'all requests' })
  const respond = (status: number, count: number) => {
    for (const response of responses.splice(0, count)) response.writeHead(status).end()
  }
  respond(410, 12)
  const countOfGone = `select count(*)::int as gone from webhooks.deliveries where last_http_status = 410`
  const gone = async () => (await harness.worker.pool.query<{ gone: number }>(countOfGone)).rows[0]?.gone
  await waitFor(async () => (await gone()) === 12, { what: 'the first records' })
  harness.settings.time += 1_000
  respond(410, 6)
  respond(200, 1)
  respond(500, 1)
  t.same(
    (await sent).filter((pauseMs) => pauseMs !== undefined),
    [5_000],
  )
  const { rows } = await harness.worker.pool.query(
    'select status, count(*)::int from webhooks.all_deliveries group by 1 order by 1',
  )
  matchList(t, rows, [
    { status: 'pending', count: 19 },
    { status: 'succeeded', count: 1 },
  ])
  const errors = harness.lines.filter((line) => line.includes('"level":"error"'))
  t.equal(errors.length, 1)
  t.match(errors[0], /webhook endpoint paused.*410/)
  t.match(errors[0], 'ops webhooks enable 1')
  const { rows: disabled } = await harness.worker.pool.query('select name, disabled_at from webhooks.nodes')
  matchList(t, disabled, [{ name: '1', disabled_at: new Date(clockStart) }])
  await enable(harness)
  harness.settings.time += hourMs
  const again = await harness.worker.claim('1', 50)
  t.equal(again.length, 19, 'all held deliveries are due')
})
