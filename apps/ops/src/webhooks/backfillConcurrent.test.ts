// Backfills beside a real worker that sends what they make.
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { endpointVariables, webhooksHarness } from '../testing/webhooksHarness.ts'

const patient = { timeoutMs: 30_000 }

t.test('a node that is configured later gets every event once, with the ids of the worker', async (t) => {
  const rig = await webhooksHarness(t)
  const [first, second] = [await startFakeEndpoint(t), await startFakeEndpoint(t)]
  const one = endpointVariables('1', first.url)
  const both = { ...one, ...endpointVariables('2', second.url) }
  const worker = await rig.startWorker(one)
  await rig.pay(3)
  await rig.ask()
  // One of its tests comes last.
  await waitFor(() => first.received.length === 5, { what: 'all that node 1 is told', ...patient })
  await worker.stop()
  const ids = await rig.idsOf('2', both)
  t.equal(ids.length, 3)

  const dry = await rig.run(['backfill', '--node', '2', '--from', '0', '--dry-run'], both)
  t.match(dry, { code: 0, stdout: /: 3 deliveries are missing, 0 there before\.\n$/ })
  t.same(await rig.rows('2'), [], 'a dry run changes nothing')

  const made = await rig.run(['backfill', '--node', '2', '--from', '0'], both)
  t.match(made, { code: 0, stdout: /^6 events: 3 deliveries made, 0 there before\.\n$/ })
  const rows = await rig.rows('2')
  t.same(rows.map(({ id }) => id).toSorted(), ids.toSorted())
  t.notOk(
    rows.some(({ is_test }) => is_test),
    'tests and simulations are left out',
  )

  await rig.startWorker(both)
  await waitFor(() => second.received.length === 3, { what: 'what was made', ...patient })
  await rig.pay(1)
  await waitFor(() => second.received.length === 4, { what: 'what comes after it', ...patient })
  t.same(second.received.map(({ id }) => id).toSorted(), (await rig.idsOf('2', both)).toSorted(), 'each once')

  const again = await rig.run(['backfill', '--node', '2', '--from', '0', '--json'], both)
  t.match(JSON.parse(again.stdout), { complete: true, dry_run: false, events: 8, too_old: 0, missing: 0, present: 4 })
})

t.test('it runs while the worker is writing, and each message arrives once', async (t) => {
  const rig = await webhooksHarness(t)
  const endpoint = await startFakeEndpoint(t)
  const raw = endpointVariables('1', endpoint.url, { EVENT_MODE: 'raw' })
  for (let round = 0; round < 3; round++) await rig.notify(100)
  await rig.startWorker(raw)
  const writing = (async () => {
    for (let round = 0; round < 5; round++) await rig.notify(20)
  })()
  const runs = await Promise.all([1, 2].map(() => rig.run(['backfill', '--node', '1', '--from', '0'], raw)))
  await writing
  t.same(
    runs.map(({ code, stderr }) => [code, stderr.replaceAll(/^Reading: .*\n/gm, '')]),
    [
      [0, ''],
      [0, ''],
    ],
  )
  await waitFor(() => endpoint.received.length >= 400, { what: 'all messages', timeoutMs: 40_000 })
  const left = async () => (await rig.rows('1')).every(({ status }) => status === 'succeeded')
  await waitFor(left, { what: 'the record of all', ...patient })
  t.same(endpoint.received.map(({ id }) => id).toSorted(), (await rig.idsOf('1', raw)).toSorted())
})
