import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import {
  assertAllDelivered,
  createWorkerProcessHarness,
  rawEndpointVariables,
  waitForReadiness,
} from '@paylog/webhooks/testing/workerProcessHarness'
import t from 'tap'

t.test('the health page of a worker reports deliveries, faults and the standby', async (t) => {
  const [endpoint, paused] = [await startFakeEndpoint(t), await startFakeEndpoint(t)]
  const harness = await createWorkerProcessHarness(t, {
    ...rawEndpointVariables(1, endpoint.url, { TIMEOUT: '1s' }),
    ...rawEndpointVariables(2, paused.url),
  })
  await harness.pool.query(`insert into webhooks.nodes (name, disabled_at) values ('2', now())`)
  const worker = await harness.start()

  await t.test('readiness and metrics show sent deliveries and those of a paused endpoint', async (t) => {
    const { checks } = await waitForReadiness(worker, 200)
    t.strictSame(Object.keys(checks), ['postgres', 'queue', 'clock', 'log', 'follow_ups', 'deliveries'])
    t.match(checks.log, { ok: true, role: 'reader', connected: true })
    await harness.append(3)
    await waitFor(() => endpoint.received.length === 3, { what: 'the webhooks of the enabled endpoint' })
    await waitFor(async () => (await harness.count('succeeded')) === 3, { what: 'their records' })
    // Readiness is cached for up to a second.
    const shown = async () => (await worker.ready()).checks.deliveries
    await waitFor(async () => (await shown())?.held === 3, { what: 'the deliveries of the paused endpoint' })
    t.match(await shown(), { ok: true, pending: 0, held: 3, disabled_nodes: ['2'] })
    const metrics = await worker.metrics()
    t.match(metrics, 'webhook_attempts_total{result="succeeded"} 3')
    t.match(metrics, 'webhook_deliveries_finished_total{status="succeeded"} 3')
    t.match(metrics, 'webhook_deliveries_held{node="2"} 3')
    t.match(metrics, 'webhook_deliveries_pending{node="1"} 0')
    t.match(metrics, 'paylog_attention{code="endpoint_paused"} 1')
    t.match(metrics, 'paylog_attention{code="endpoint_failing"} 0')
    await harness.pool.query('update webhooks.nodes set disabled_at = null')
    await waitFor(() => paused.received.length === 3, { what: 'the deliveries after enabling' })
  })

  await t.test('a worker with an overdue delivery is not ready until it is sent', async (t) => {
    await waitFor(async () => (await harness.count('succeeded')) === 6, { what: 'all records' })
    // A delivery that has been due for two minutes, and that another worker has claimed.
    await harness.pool.query(
      `with finished as (
         delete from webhooks.finished_deliveries
         where id = (select id from webhooks.finished_deliveries where node = '1' limit 1) returning *
       )
       insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision, source_event_id,
         correlation_id, causation_id, created_at, attempts, series_start, next_attempt_at, claimed_by, claimed_until)
       select id, node, event, mode, provider, body, source_stream, source_revision, source_event_id,
         correlation_id, causation_id, created_at, attempts, attempts, now() - interval '2 minutes', gen_random_uuid(),
         now() + interval '1 hour' from finished`,
    )
    t.match((await waitForReadiness(worker, 503)).checks.deliveries, { ok: false, late_nodes: ['1'], pending: 1 })
    await harness.pool.query('update webhooks.deliveries set claimed_until = now()')
    await waitForReadiness(worker, 200)
    t.equal(endpoint.received.length, 4)
  })

  await t.test('a worker that receives events but cannot handle them is not ready', async (t) => {
    const other = await harness.pool.connect()
    let isReleased = false
    const release = () => {
      if (!isReleased) other.release(true)
      isReleased = true
    }
    t.teardown(release)
    await other.query('set idle_in_transaction_session_timeout = 0')
    await other.query('begin; lock table webhooks.deliveries in exclusive mode')
    await harness.append(1)
    const stuck = await waitFor(
      async () => {
        const { status, checks } = await worker.ready()
        return status === 503 && Number(checks.log?.waiting_seconds) > 0 && checks
      },
      { what: 'readiness 503', timeoutMs: 40_000 },
    )
    t.match(stuck.log, { ok: false, role: 'reader', connected: true })
    release()
    await assertAllDelivered(t, harness, endpoint)
    await waitForReadiness(worker, 200)
  })

  await t.test('a standby worker is ready, reports its role and takes over', async (t) => {
    const workers = async () => (await harness.pool.query<{ id: string }>('select id from webhooks.workers')).rows
    const killed = await workers()
    const second = await harness.start()
    await waitFor(async () => (await second.ready()).checks.log?.role === 'standing by', { what: 'the standby' })
    t.match(await second.ready(), { status: 200, checks: { log: { ok: true }, follow_ups: { role: 'standing by' } } })
    await worker.kill('SIGKILL')
    await harness.append(1)
    await waitFor(async () => (await second.ready()).checks.log?.role === 'reader', { what: 'the takeover' })
    await assertAllDelivered(t, harness, endpoint)
    await second.stop()
    t.strictSame(await second.exited, { code: 0, signal: null })
    t.strictSame(await workers(), killed, 'only the stopped worker is removed')
  })
})
