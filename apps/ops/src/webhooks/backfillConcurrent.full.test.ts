// Backfills beside a real worker, which sends their deliveries.
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { endpointVariables, webhooksHarness } from '../testing/webhooksHarness.ts'

const longTimeout = { timeoutMs: 30_000 }

t.test('backfill of an endpoint configured later sends every event once, with the ids of the worker', async (t) => {
  const harness = await webhooksHarness(t)
  const [first, second] = [await startFakeEndpoint(t), await startFakeEndpoint(t)]
  const one = endpointVariables('1', first.url)
  const both = { ...one, ...endpointVariables('2', second.url) }
  const worker = await harness.startWorker(one)
  await harness.pay(3)
  await harness.recordTests()
  // One of them is a webhook test, which comes last.
  await waitFor(() => first.received.length === 5, { what: 'all webhooks of endpoint 1', ...longTimeout })
  await worker.stop()
  const ids = await harness.idsOf('2', both)
  t.equal(ids.length, 3)

  const dry = await harness.run(['backfill', '--node', '2', '--from', '0', '--dry-run'], both)
  t.match(dry, { code: 0, stdout: /: 3 deliveries are missing, 0 already there\.\n$/ })
  t.same(await harness.rows('2'), [], 'a dry run changes nothing')

  const made = await harness.run(['backfill', '--node', '2', '--from', '0'], both)
  t.match(made, { code: 0, stdout: /^6 events: 3 deliveries created, 0 already there\.\n$/ })
  const rows = await harness.rows('2')
  t.same(rows.map(({ id }) => id).toSorted(), ids.toSorted())
  t.notOk(
    rows.some(({ is_test }) => is_test),
    'webhook tests are skipped',
  )

  await harness.startWorker(both)
  await waitFor(() => second.received.length === 3, { what: 'the backfilled webhooks', ...longTimeout })
  await harness.pay(1)
  await waitFor(() => second.received.length === 4, { what: 'the next webhook', ...longTimeout })
  t.same(
    second.received.map(({ id }) => id).toSorted(),
    (await harness.idsOf('2', both)).toSorted(),
    'each webhook was sent once',
  )

  const again = await harness.run(['backfill', '--node', '2', '--from', '0', '--json'], both)
  t.match(JSON.parse(again.stdout), { complete: true, dry_run: false, events: 8, too_old: 0, missing: 0, present: 4 })
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
  t.same(
    runs.map(({ code, stderr }) => [code, stderr.replaceAll(/^Reading: .*\n/gm, '')]),
    [
      [0, ''],
      [0, ''],
    ],
  )
  await waitFor(() => endpoint.received.length >= 400, { what: 'all webhooks', timeoutMs: 40_000 })
  const left = async () => (await harness.rows('1')).every(({ status }) => status === 'succeeded')
  await waitFor(left, { what: 'the record of all', ...longTimeout })
  t.same(endpoint.received.map(({ id }) => id).toSorted(), (await harness.idsOf('1', raw)).toSorted())
})
