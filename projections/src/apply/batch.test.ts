import { recordCallFailed } from '@paylog/domain/payments/calls'
import { recordIntentCreated } from '@paylog/domain/payments/initiate'
import { recordStatus } from '@paylog/domain/payments/statusReports'
import t from 'tap'
import { Type } from 'typebox'
import { text } from '../columns.ts'
import { payments } from '../payments/projection.ts'
import { defineProjection } from '../projection.ts'
import { addPaymentTo, createLogFixture } from '../testing/logFixture.ts'
import { foldBatch } from './batch.ts'

const report = (status: 'succeeded' | 'failed' | 'processing', provider_event_id = status) => ({
  occurred_at: '2026-03-01T11:00:00.000Z',
  provider_time: '2026-03-01T11:00:00.000Z',
  status,
  provider_event_id,
  provider_intent_id: null,
  provider_payment_id: 'ch_1',
  amount_cents: null,
  currency: null,
})
const created = {
  occurred_at: '2026-03-01T12:00:00.000Z',
  attempt: 2,
  provider_intent_id: 'pi_2',
  client_secret: 'cs_2',
}
const rejected = {
  occurred_at: '2026-03-01T10:30:00.000Z',
  outcome: 'rejected',
  error_code: 'provider_unavailable',
  failure_code: 'x',
  failure_message: 'x',
} as const

t.test('an insert and its changes in one batch become one insert', async (t) => {
  const log = createLogFixture()
  const id = addPaymentTo(log)
  log.decide(id, (state) => recordStatus(report('succeeded'), state))
  const { inserts, patches } = foldBatch(payments, log.events)
  t.same(patches, [])
  t.match(inserts, [{ id, revision: 2n, values: { status: 'succeeded', provider_payment_id: 'ch_1' } }])
})

t.test('changes of a row outside the batch become one patch', async (t) => {
  const log = createLogFixture()
  const id = addPaymentTo(log)
  log.decide(id, (state) => recordStatus(report('processing'), state))
  log.decide(id, (state) => recordStatus(report('succeeded'), state))
  const { inserts, patches } = foldBatch(payments, log.events.slice(1))
  t.same(inserts, [])
  t.match(patches, [{ id, revision: 3n, values: { status: 'succeeded', provider_intent_id: `pi_${id}` } }])
  t.notOk(Object.hasOwn(patches[0]?.values ?? {}, 'description'), 'unchanged columns are not in the patch')
})

t.test('a new intent resets a failed payment to pending, in the same batch or a later one', async (t) => {
  const log = createLogFixture()
  const id = addPaymentTo(log, { intent: false })
  log.decide(id, (state) => recordCallFailed({ call: 'create', attempt: 1 }, rejected, state))
  log.decide(id, (state) => recordIntentCreated(created, state))
  const statusOf = (from: number) => {
    const { inserts, patches } = foldBatch(payments, log.events.slice(from))
    return [...inserts, ...patches][0]?.values.status
  }
  t.equal(statusOf(0), 'pending')
  t.equal(statusOf(1), 'pending')
  t.equal(statusOf(2), 'pending')
  t.equal(statusOf(3), undefined, 'the intent alone does not set the status')
})

t.test('a new intent does not change a payment that succeeded meanwhile', async (t) => {
  const log = createLogFixture()
  const id = addPaymentTo(log, { intent: false })
  log.decide(id, (state) => recordStatus(report('succeeded'), state))
  log.decide(id, (state) => recordIntentCreated(created, state))
  t.match(foldBatch(payments, log.events).inserts, [{ values: { status: 'succeeded', client_secret: null } }])
  t.match(foldBatch(payments, log.events.slice(1)).patches, [{ values: { status: 'succeeded' } }])
})

t.test('an event repeated within a batch counts once', async (t) => {
  const log = createLogFixture()
  const id = addPaymentTo(log)
  log.decide(id, (state) => recordStatus(report('failed'), state))
  t.same(foldBatch(payments, [...log.events, ...log.events]), foldBatch(payments, log.events))
})

t.test('an event of another projection changes nothing', async (t) => {
  const events = [{ type: 'ProviderEventReceived', data: { payment_id: 'x' }, revision: 0n, sealed: {} }]
  t.same(foldBatch(payments, events), { inserts: [], patches: [] })
})

t.test('a patch of a column without a merge rule throws', async (t) => {
  const wrong = defineProjection({
    name: 'wrong',
    schemaVersion: 1,
    streamPrefix: 'wrong-',
    columns: { alias: text },
    indexes: () => '',
    idOf: () => 'x',
    events: { Changed: Type.Object({}) },
    on: { Changed: () => ({ patch: { alias: 'y' } }) },
  })
  t.throws(() => foldBatch(wrong, [{ type: 'Changed', data: {}, revision: 1n, sealed: {} }]), /wrong patches alias/)
})
