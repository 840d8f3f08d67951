// Backfills beside a real worker, which sends their deliveries.
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { endpointVariables, webhooksHarness } from '../testing/webhooksHarness.ts'

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
  const refused = /^Either a backfill of 1 or 4 other jobs are running; try again when one has ended \(job_running\)\n$/
  await writing
  t.ok(runs.some(({ code }) => code === 0))
  for (const { code, stderr } of runs)
    if (code !== 0) t.match(stderr.replaceAll(/^Reading: .*\n/gm, ''), refused, 'one at a time')
  await waitFor(() => endpoint.received.length >= 400, { what: 'all webhooks', timeoutMs: 40_000 })
  const left = async () => (await harness.rows('1')).every(({ status }) => status === 'succeeded')
  await waitFor(left, { what: 'the record of all', timeoutMs: 30_000 })
  t.same(endpoint.received.map(({ id }) => id).toSorted(), (await harness.idsOf('1', raw)).toSorted())
})
