import { createEndpoint } from '@paylog/testing/endpoint'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { becomes, createFaultRig, everythingArrives, rawNode } from './testing/faultRig.ts'

// Each has a log and workers of its own, and most of its time is waiting.
t.jobs = 2

t.test('a worker shows what it does, and what waits', { buffered: true }, async (t) => {
  const endpoint = await createEndpoint(t)
  const rig = await createFaultRig(t, { ...rawNode(1, endpoint.url), ...rawNode(2, endpoint.url) })
  await rig.pool.query(`insert into webhooks.nodes (name, disabled_at) values ('2', now())`)
  const worker = await rig.start()
  const { checks } = await becomes(worker, 200)
  t.strictSame(Object.keys(checks), ['postgres', 'queue', 'log', 'follow_ups', 'deliveries'])
  t.match(checks.log, { ok: true, role: 'reader', connected: true })
  await rig.append(3)
  await waitFor(() => endpoint.received.length === 3, { what: 'the webhooks of the enabled node' })
  await waitFor(async () => (await rig.count('succeeded')) === 3, { what: 'their records' })
  t.match((await worker.ready()).checks.deliveries, { ok: true, pending: 0, held: 3, disabled_nodes: ['2'] })
  const metrics = await worker.metrics()
  t.match(metrics, 'webhook_attempts_total{result="succeeded"} 3')
  t.match(metrics, 'webhook_deliveries_finished_total{status="succeeded"} 3')
  t.match(metrics, 'webhook_deliveries_held{node="2"} 3')
  t.match(metrics, 'webhook_deliveries_pending{node="1"} 0')
  await rig.pool.query('update webhooks.nodes set disabled_at = null')
  await waitFor(() => endpoint.received.length === 6, { what: 'what was held, now that the node is enabled' })
  await worker.stop()
  t.strictSame(await worker.exited, { code: 0, signal: null })
  t.strictSame((await rig.pool.query('select * from webhooks.workers')).rows, [], 'and is known to have left')
})

t.test('one that stands by is ready, says so, and takes over', { buffered: true }, async (t) => {
  const endpoint = await createEndpoint(t)
  const rig = await createFaultRig(t, rawNode(1, endpoint.url))
  const first = await rig.start()
  await becomes(first, 200)
  const second = await rig.start()
  await waitFor(async () => (await second.ready()).checks.log?.role === 'standing by', { what: 'the standby' })
  t.match(await second.ready(), { status: 200, checks: { log: { ok: true }, follow_ups: { role: 'standing by' } } })
  await first.kill('SIGKILL')
  await rig.append(1)
  await waitFor(async () => (await second.ready()).checks.log?.role === 'reader', { what: 'the takeover' })
  await everythingArrives(t, rig, endpoint)
})

t.test('a delivery that is late makes a worker not ready until it is made', { buffered: true }, async (t) => {
  const endpoint = await createEndpoint(t)
  const rig = await createFaultRig(t, rawNode(1, endpoint.url, { TIMEOUT: '1s' }))
  const worker = await rig.start()
  await rig.append(1)
  await everythingArrives(t, rig, endpoint)
  // As if it had been due for two minutes and nobody had found it.
  await rig.pool.query(
    `update webhooks.deliveries set status = 'pending', next_attempt_at = now() - interval '2 minutes',
       sweep_at = now() + interval '1 hour'`,
  )
  t.match((await worker.ready()).checks.deliveries, { ok: false, late_nodes: ['1'], pending: 1 })
  t.equal((await worker.ready()).status, 503)
  await rig.pool.query('update webhooks.deliveries set sweep_at = now()')
  await becomes(worker, 200)
  t.equal(endpoint.received.length, 2)
})

t.test('a log that is heard and not handled makes a worker not ready', { buffered: true }, async (t) => {
  const endpoint = await createEndpoint(t)
  const rig = await createFaultRig(t, rawNode(1, endpoint.url))
  const worker = await rig.start()
  await becomes(worker, 200)
  const other = await rig.pool.connect()
  let isReleased = false
  const release = () => {
    if (!isReleased) other.release(true)
    isReleased = true
  }
  t.teardown(release)
  await other.query('set idle_in_transaction_session_timeout = 0')
  await other.query('begin; lock table webhooks.deliveries in exclusive mode')
  await rig.append(1)
  const stuck = await waitFor(
    async () => {
      const { status, checks } = await worker.ready()
      return status === 503 && Number(checks.log?.waiting_seconds) > 0 && checks
    },
    { what: 'readiness 503', timeoutMs: 40_000 },
  )
  t.match(stuck.log, { ok: false, role: 'reader', connected: true })
  release()
  await everythingArrives(t, rig, endpoint)
  await becomes(worker, 200)
})
