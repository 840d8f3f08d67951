import { plansOf } from '@paylog/testing/recordingPool'
import t from 'tap'
import { endpointSettings } from '../../testing/eventFixtures.ts'
import { batchOf } from '../../testing/paymentFixture.ts'
import { createWorkerHarness } from '../../testing/workerHarness.ts'
import { deliveriesOfStreams } from './deliveryList.ts'

const twoEndpoints = { ...endpointSettings(1, 'canonical'), ...endpointSettings(2, 'canonical') }

t.test('the deliveries of a stream have their event, and are held while their endpoint is paused', async (t) => {
  const { dispatcher, pool } = await createWorkerHarness(t, 'postgres', twoEndpoints)
  await dispatcher.start()
  const batch = batchOf(3)
  await dispatcher.handle(batch)
  await pool.query(`insert into webhooks.nodes (name, disabled_at) values ('1', now()), ('2', null)`)
  const [event] = batch.events
  const found = await deliveriesOfStreams(pool, [event?.stream ?? '', 'payment-unknown'])
  const common = { event_id: event?.id, stream: event?.stream, revision: 2, event: 'payment.succeeded' }
  t.match(found, [
    { ...common, endpoint: '1', mode: 'canonical', status: 'held', attempts: 0, last_attempt_at: null },
    { ...common, endpoint: '2', mode: 'canonical', status: 'pending', attempts: 0, next_attempt_at: String },
  ])
  t.equal(found.length, 2)
})

t.test('the query for the deliveries of a stream uses the index', async (t) => {
  const { pool } = await createWorkerHarness(t, 'postgres', {})
  await pool.query(
    `insert into webhooks.deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
       source_event_id, correlation_id, causation_id, next_attempt_at, created_at)
     select gen_random_uuid(), '1', 'payment.succeeded', 'canonical', 'sandbox', '{}', 'payment-' || n / 4, n % 4,
       gen_random_uuid(), 'c', 'c', now(), now() from generate_series(1, 20000) as n`,
  )
  await pool.query(
    `insert into webhooks.finished_deliveries (id, node, event, mode, provider, body, source_stream, source_revision,
       source_event_id, correlation_id, causation_id, is_test, created_at, attempts, attempts_made, last_attempt_at, ended_at)
     select id, node, event, mode, provider, body, source_stream, source_revision, source_event_id, correlation_id,
       causation_id, is_test, created_at, 1, '[]', now(), now() from webhooks.deliveries`,
  )
  await pool.query('analyze webhooks.deliveries, webhooks.finished_deliveries')
  for (const streams of [['payment-7'], Array.from({ length: 50 }, (_, n) => `payment-${n}`)]) {
    const [plan] = await plansOf(pool, (db) => deliveriesOfStreams(db, streams))
    t.match(plan, /Index.* deliveries_of_stream/)
    t.match(plan, /Index.* finished_deliveries_\d+_source_stream_idx/)
    t.notMatch(plan, /Seq Scan on (finished_)?deliveries/)
  }
})
