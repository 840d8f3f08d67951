import type { ServerResponse } from 'node:http'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { batchOf } from '../../testing/paymentFixture.ts'
import { createWorkerHarness, type WorkerHarness } from '../../testing/workerHarness.ts'
import { concurrencyPerEndpoint } from './lanes.ts'

const endpointVariables = (url: string, more: Readonly<Record<string, string>> = {}) => ({
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: url,
  ...more,
})
const pendingCount = async ({ pool }: WorkerHarness) => (await pool.query('select from webhooks.deliveries')).rowCount
/** Of endpoint 1. */
const claimedCount = async ({ pool }: WorkerHarness) =>
  (await pool.query("select from webhooks.deliveries where claimed_by is not null and node = '1'")).rowCount
const allDelivered = (harness: WorkerHarness, timeoutMs = 20_000) =>
  waitFor(async () => (await pendingCount(harness)) === 0, { what: 'all deliveries', timeoutMs })

/** An endpoint whose first requests wait for the test. */
async function heldEndpoint(t: Test, held: number) {
  const responses: ServerResponse[] = []
  const endpoint = await startFakeEndpoint(t, (response, index) => {
    if (index < held) responses.push(response)
    else response.end('ok')
  })
  t.teardown(() => {
    for (const response of responses) response.end()
  })
  return { endpoint, responses }
}

t.test('new deliveries are sent at once, without a queue, and several times the slots are recorded', async (t) => {
  const endpoint = await startFakeEndpoint(t)
  const harness = await createWorkerHarness(t, 'postgres', endpointVariables(endpoint.url))
  const { dispatcher } = await harness.work()
  await dispatcher.start()
  for (let batch = 0; batch < 10; batch++) await dispatcher.handle(batchOf(100, BigInt(batch * 100 + 1)))
  await allDelivered(harness)
  t.equal(endpoint.received.length, 1_000)
  t.equal(new Set(endpoint.received.map(({ id }) => id)).size, 1_000)
})

t.test('an endpoint that hangs gets no more requests than it has slots, and occupies no other endpoint', async (t) => {
  const { endpoint: hanging } = await heldEndpoint(t, 1_000)
  const fast = await startFakeEndpoint(t)
  const harness = await createWorkerHarness(t, 'postgres', {
    ...endpointVariables(hanging.url),
    WEBHOOK_2_ENABLED: 'true',
    WEBHOOK_2_URL: fast.url,
  })
  const { dispatcher } = await harness.work()
  await dispatcher.start()
  for (let batch = 0; batch < 3; batch++) await dispatcher.handle(batchOf(100, BigInt(batch * 100 + 1)))
  await waitFor(() => fast.received.length === 300, { what: 'the fast endpoint' })
  t.equal(hanging.received.length, concurrencyPerEndpoint)
  t.equal(await claimedCount(harness), concurrencyPerEndpoint, 'other workers can send the rest')
})

t.test('a stopping worker finishes its requests and releases the rest, which the next worker sends once', async (t) => {
  const more = 150
  const { endpoint, responses } = await heldEndpoint(t, concurrencyPerEndpoint)
  const harness = await createWorkerHarness(t, 'postgres', endpointVariables(endpoint.url))
  await harness.dispatcher.start()
  const first = await harness.work()
  await harness.dispatcher.handle(batchOf(concurrencyPerEndpoint + more))
  await waitFor(() => responses.length === concurrencyPerEndpoint, { what: 'the requests' })
  const stopped = first.stop()
  for (const response of responses.splice(0)) response.end('ok')
  await stopped
  t.equal(endpoint.received.length, concurrencyPerEndpoint)
  t.equal(await pendingCount(harness), more)
  t.equal(await claimedCount(harness), 0)
  await harness.work()
  await allDelivered(harness)
  t.equal(endpoint.received.length, concurrencyPerEndpoint + more)
})

t.test('a result that Postgres cannot take is recorded later, and the webhook is not sent again', async (t) => {
  const { endpoint, responses } = await heldEndpoint(t, 1)
  const harness = await createWorkerHarness(t, 'postgres', endpointVariables(endpoint.url))
  await harness.dispatcher.start()
  await harness.work()
  await harness.dispatcher.handle(batchOf(1))
  const response = await waitFor(() => responses[0], { what: 'the request' })
  await harness.pool.query('alter table webhooks.finished_deliveries rename to missing')
  const failures = await statementErrors(harness)
  response.end('ok')
  await waitFor(async () => (await statementErrors(harness)) > failures, { what: 'a rollback' })
  await harness.pool.query('alter table webhooks.missing rename to finished_deliveries')
  await allDelivered(harness)
  t.equal(endpoint.received.length, 1)
  t.match(await harness.row(endpoint.received[0]?.id ?? ''), { status: 'succeeded', attempts: 1 })
})

async function statementErrors({ pool }: WorkerHarness): Promise<number> {
  const { rows } = await pool.query<{ errors: bigint }>(
    `select pg_stat_force_next_flush(), xact_rollback as errors from pg_stat_database where datname = current_database()`,
  )
  return Number(rows[0]?.errors)
}

/** Events of some streams, in turns: revision by revision. */
function streamsOf(streams: number, length: number, firstCommit: bigint) {
  const { events, position } = batchOf(streams * length, firstCommit)
  return {
    events: events.map((event, index): Recorded => {
      const stream = `${events[index % streams]?.stream}`
      return { ...event, stream, revision: BigInt(Math.floor(index / streams)) }
    }),
    position,
  }
}

t.test(
  'without failures two workers deliver the events of each stream in order, also to a slow endpoint',
  async (t) => {
    const slow = await startFakeEndpoint(t, (response, index) => {
      setTimeout(() => response.end('ok'), (index * 7) % 40)
    })
    const harness = await createWorkerHarness(t, 'postgres', endpointVariables(slow.url))
    const workers = [await harness.work(), await harness.work()] as const
    const { dispatcher } = workers[0]
    await dispatcher.start()
    for (let batch = 0; batch < 3; batch++) await dispatcher.handle(streamsOf(20, 5, BigInt(batch * 100 + 1)))
    await allDelivered(harness)
    t.equal(slow.received.length, 300, 'each once')
    const { rows } = await harness.pool.query<{ id: string; stream: string; revision: bigint }>(
      'select id, source_stream as stream, source_revision as revision from webhooks.all_deliveries',
    )
    const sources = new Map(rows.map(({ id, ...source }) => [id, source]))
    const newest = new Map<string, bigint>()
    for (const { id, headers } of slow.received) {
      const source = sources.get(id)
      if (source === undefined) throw new Error('unknown delivery')
      t.equal(headers['webhook-sequence'], source.revision.toString())
      t.ok((newest.get(source.stream) ?? -1n) < source.revision, `${source.stream} ${source.revision}`)
      newest.set(source.stream, source.revision)
    }
  },
)

t.test('two hundred endpoints need no Redis and a few connections', async (t) => {
  const endpoint = await startFakeEndpoint(t)
  const endpoints = 100
  const variables = Object.fromEntries(
    Array.from({ length: endpoints }, (_, index) => index + 1).flatMap((n) => [
      [`WEBHOOK_${n}_ENABLED`, 'true'],
      [`WEBHOOK_${n}_URL`, endpoint.url],
    ]),
  )
  const urls = Array.from({ length: endpoints }, (_, index) => `${endpoint.url}/${index}`).join()
  const env = { ...variables, WEBHOOK_SCAN_MAX: `${endpoints}`, EXTERNAL_WEBHOOK_URLS: urls }
  const harness = await createWorkerHarness(t, 'postgres', env)
  t.equal(harness.endpoints.length, 2 * endpoints)
  const { dispatcher } = await harness.work()
  await dispatcher.start()
  await dispatcher.handle(batchOf(5))
  await waitFor(() => endpoint.received.length === 5 * endpoints, { what: 'all deliveries' })
  const { rowCount } = await harness.pool.query(
    'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  // The test has 4 for its own statements, and two queue stores.
  t.ok((rowCount ?? 0) <= 10, `${rowCount} connections`)
})
