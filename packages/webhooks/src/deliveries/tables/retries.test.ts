import type { ServerResponse } from 'node:http'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { clockStart, createFakeClockHarness, type FakeClockHarness } from '../../testing/fakeClockHarness.ts'
import { redeliver } from '../operations/redelivery.ts'
import type { ClaimedDelivery } from './claims.ts'

const hourMs = 3_600_000

t.test('a failing endpoint is retried after 5, 10 and 20 s, and not again [6.2-retry]', async (t) => {
  const { settings, worker, endpoint, pauses } = await createFakeClockHarness(t, [])
  settings.defaultResponse = { status: 503 }
  const { id, pauses: waited } = await pauses()
  t.same(waited, [5_000, 10_000, 20_000])
  t.same(
    endpoint.received.map((webhook) => webhook.id),
    [id, id, id, id],
  )
  t.match(await worker.row(id), { status: 'failed', attempts: 4, next_attempt_at: null, last_http_status: 503 })
  t.same(
    (await worker.attempts(id)).map(({ at }) => at.getTime() - clockStart),
    [0, 5_000, 15_000, 35_000],
  )
  settings.share = 1
  t.same((await pauses()).pauses, [5_500, 11_000, 22_000], 'jitter lengthens pauses by at most a tenth')
})

t.test('an endpoint may have its own retry schedule, or none [10.4-schedule]', async (t) => {
  const own = await createFakeClockHarness(t, [], { WEBHOOK_1_RETRY_SCHEDULE: '1s,1m,12h,24h' })
  own.settings.defaultResponse = { status: 500 }
  t.same((await own.pauses()).pauses, [1_000, 60_000, 12 * hourMs, 24 * hourMs])
  const none = await createFakeClockHarness(t, [{ status: 500 }], { EXTERNAL_WEBHOOK_MAX_RETRIES: '0' })
  const { id, pauses } = await none.pauses()
  t.same(pauses, [])
  t.match(await none.worker.row(id), { status: 'failed', attempts: 1 })
})

t.test(
  'Retry-After lengthens a pause up to an hour, never shortens it, and adds no attempt [10.4-retry-after]',
  async (t) => {
    const { settings, endpoint, pauses } = await createFakeClockHarness(t, [])
    for (const [retryAfter, expected] of [
      ['30', [30_000, 30_000, 30_000]],
      ['7', [7_000, 10_000, 20_000]],
      ['1', [5_000, 10_000, 20_000]],
      ['7200', [hourMs, hourMs, hourMs]],
    ] as const) {
      settings.defaultResponse = { status: 503, retryAfter }
      const before = endpoint.received.length
      t.same((await pauses()).pauses, expected, retryAfter)
      t.equal(endpoint.received.length - before, 4, 'no additional attempt')
    }
    settings.defaultResponse = { status: 503, retryAfter: new Date(settings.time + 120_000).toUTCString() }
    t.same((await pauses()).pauses, [120_000, 10_000, 20_000], 'a past date has no effect')
    settings.share = 1
    settings.defaultResponse = { status: 503, retryAfter: '15' }
    t.same((await pauses()).pauses, [15_000, 15_000, 22_000], 'jitter does not lengthen Retry-After')
  },
)

/** Like `ops webhooks redeliver`. */
async function sendAgain({ worker, settings }: FakeClockHarness, id: string): Promise<void> {
  await redeliver(worker.pool, [id], new Date(settings.time))
}

t.test('a redelivered delivery has its whole retry schedule again, and its attempt numbers continue', async (t) => {
  const harness = await createFakeClockHarness(t, [])
  harness.settings.defaultResponse = { status: 503 }
  const { id } = await harness.pauses()
  await sendAgain(harness, id)
  const pauses: number[] = []
  for (;;) {
    const [due] = await harness.worker.claim('1', 1)
    if (due === undefined) break
    t.equal(due.id, id)
    const pauseMs = await harness.send(due)
    if (pauseMs !== undefined) pauses.push(pauseMs)
    harness.settings.time += pauseMs ?? 0
  }
  t.same(pauses, [5_000, 10_000, 20_000])
  t.match(await harness.worker.row(id), { status: 'failed', attempts: 8 })
  t.equal(new Set(harness.endpoint.received.map((webhook) => webhook.id)).size, 1)
})

t.test('an attempt that fails during a redelivery is counted, and followed at once by the new schedule', async (t) => {
  const responses: ServerResponse[] = []
  const held = await startFakeEndpoint(t, (response) => responses.push(response))
  const harness = await createFakeClockHarness(t, [], { WEBHOOK_1_URL: held.url, WEBHOOK_1_RETRY_SCHEDULE: '5s' })
  const fail = async (due: ClaimedDelivery | undefined, meanwhile: () => Promise<void> = async () => undefined) => {
    if (due === undefined) throw new Error('no delivery is due')
    const sent = harness.send(due)
    const response = await waitFor(() => responses.shift(), { what: 'the request' })
    await meanwhile()
    response.writeHead(500).end()
    const pauseMs = await sent
    harness.settings.time += pauseMs ?? 0
    return pauseMs
  }
  const [first] = await harness.deliver()
  const id = first?.id ?? ''
  t.equal(await fail(first), 5_000)
  const [second] = await harness.worker.claim('1', 1)
  // The last attempt of the old schedule.
  t.equal(await fail(second, () => sendAgain(harness, id)), 0)
  const [third] = await harness.worker.claim('1', 1)
  t.equal(await fail(third), 5_000)
  const [fourth] = await harness.worker.claim('1', 1)
  t.equal(await fail(fourth), undefined)
  t.match(await harness.worker.row(id), { status: 'failed', attempts: 4 })
})
