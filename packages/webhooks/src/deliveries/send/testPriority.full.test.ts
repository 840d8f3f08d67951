// Real deliveries go before webhook tests.
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { batchOf } from '../../testing/paymentFixture.ts'
import { webhookTestBatch } from '../../testing/webhookTestFixture.ts'
import { createWorkerHarness } from '../../testing/workerHarness.ts'
import { beginning } from './lanes.ts'

/** An endpoint that responds to real deliveries at once, and leaves the requests of webhook tests open. */
async function slowForTests(t: Test) {
  const open: ServerResponse[] = []
  const endpoint = await startFakeEndpoint(t, (response, _, { headers }) => {
    if (headers['webhook-test'] === 'true') open.push(response)
    else response.end('ok')
  })
  const harness = await createWorkerHarness(t, 'postgres', { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url })
  await harness.dispatcher.start()
  t.teardown(() => {
    for (const response of open) response.end()
  })
  const real = () => endpoint.received.filter(({ headers }) => headers['webhook-test'] === undefined).length
  return { harness, open, real }
}

t.test('real deliveries overtake hundreds of tests at a slow endpoint [10.4-tests-last]', async (t) => {
  const { harness, open, real } = await slowForTests(t)
  await harness.work()
  await harness.dispatcher.handle(webhookTestBatch(300))
  await waitFor(() => open.length >= 10, { what: 'the first tests' })
  await sleep(3_000)
  await harness.dispatcher.handle(batchOf(3, 301n))
  await waitFor(() => real() === 3, { what: 'the real deliveries' })
  t.equal(open.length, 10, 'the other tests wait in the table')
  for (const response of open.splice(0)) response.end('ok')
  await waitFor(async () => (await pendingTests(harness)) === 290, { what: 'the first tests to end' })
  await waitFor(() => open.length === 10, { what: 'the next tests' })
})

t.test('real deliveries overtake tests that were recorded before them', async (t) => {
  const order: (string | undefined)[] = []
  const endpoint = await startFakeEndpoint(t, (response, _, { headers }) => {
    order.push(headers['webhook-test'] === 'true' ? 'test' : 'real')
    response.end('ok')
  })
  const harness = await createWorkerHarness(t, 'postgres', { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: endpoint.url })
  await harness.dispatcher.start()
  await harness.dispatcher.handle(webhookTestBatch(5))
  for (let commit = 6n; commit < 306n; commit += 100n) await harness.dispatcher.handle(batchOf(100, commit))
  await harness.work()
  await waitFor(() => order.length === 305, { what: 'all deliveries' })
  t.ok(order.indexOf('test') >= 150, `the first test is number ${order.indexOf('test')}`)
})

t.test('claimTests takes the tests of all users in turn, a few at a time for all workers', async (t) => {
  const { harness } = await slowForTests(t)
  await harness.dispatcher.handle(webhookTestBatch(40, { userId: 'ada' }))
  await harness.dispatcher.handle(webhookTestBatch(1, { userId: 'grace', firstCommit: 41n }))
  const claim = () =>
    harness.deliveries.claimTests([{ endpoint: '1', limit: 100, leaseMs: 15_000, since: beginning }], new Date())
  const ids = (await claim()).map(({ id }) => id)
  const { rows } = await harness.pool.query('select distinct user_id from webhooks.deliveries where id = any($1)', [
    ids,
  ])
  t.equal(ids.length, 10)
  t.same(rows.map(({ user_id }) => user_id).sort(), ['ada', 'grace'])
  t.strictSame(await claim(), [], 'tests being sent count')
})

async function pendingTests({ pool }: Awaited<ReturnType<typeof createWorkerHarness>>): Promise<number | undefined> {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int as count from webhooks.deliveries where is_test',
  )
  return rows[0]?.count
}
