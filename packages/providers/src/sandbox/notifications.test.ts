// The sandbox's notifications about refunds and disputes.
import t from 'tap'
import { readNotification } from './notifications.ts'

const payment_id = '018f0000-0000-7000-8000-000000000001'
const payment_intent = `sandbox_pi_${payment_id}`
const read = (type: string, object: object) =>
  readNotification(Buffer.from(JSON.stringify({ id: 'evt_1', type, created: 1_788_256_800, data: { object } })))
const source = {
  provider_event_id: 'evt_1',
  provider_time: '2026-09-01T10:00:00.000Z',
  provider_intent_id: payment_intent,
  provider_payment_id: `sandbox_ch_${payment_id}`,
}

t.test('sandbox: refund.updated reports a refund of the payment that its intent names', async (t) => {
  const refund_id = '018f0000-0000-7000-8000-00000000000b'
  const object = { id: 'sandbox_re_1', payment_intent, amount: 500, currency: 'eur', status: 'failed' }
  const named = { ...object, failure_code: 'account_closed', reason: 'duplicate', metadata: { refund_id } }
  const notification = read('refund.updated', named)
  t.match(notification, { generic_type: null, referenced_payment_id: payment_id, amount_cents: 500, currency: 'EUR' })
  t.strictSame(notification.report, {
    about: 'refund',
    ...source,
    refund_id,
    provider_refund_id: 'sandbox_re_1',
    amount_cents: 500,
    currency: 'EUR',
    status: 'failed',
    reason: 'duplicate',
    failure_code: 'account_closed',
  })
  t.match(read('refund.updated', { ...object, status: 'succeeded' }).report, { refund_id: null, status: 'succeeded' })
})

t.test('sandbox: dispute.created and dispute.closed report a dispute', async (t) => {
  const object = { id: 'sandbox_dp_1', payment_intent, amount: 2599, currency: 'eur', reason: 'fraudulent' }
  const opened = { ...object, status: 'needs_response', evidence_due_by: 1_788_256_860 }
  t.strictSame(read('dispute.created', opened).report, {
    about: 'dispute',
    ...source,
    provider_dispute_id: 'sandbox_dp_1',
    status: 'open',
    provider_status: 'needs_response',
    reason: 'fraudulent',
    evidence_due_by: '2026-09-01T10:01:00.000Z',
    amount_cents: 2599,
    currency: 'EUR',
  })
  for (const status of ['won', 'lost'])
    t.match(read('dispute.closed', { ...object, status, evidence_due_by: 0 }).report, {
      status,
      provider_status: status,
      evidence_due_by: null,
    })
})

t.test('sandbox: an event about a refund or dispute that does not show the money reports nothing', async (t) => {
  const object = { id: 'sandbox_re_1', payment_intent, amount: 500, currency: 'eur', status: 'failed' }
  for (const change of [{ payment_intent: undefined }, { amount: undefined }, { status: 'new' }])
    for (const type of ['refund.updated', 'dispute.created'])
      t.equal(read(type, { ...object, ...change }).report, null, type)
  t.match(read('refund.something', object), { report: null, referenced_payment_id: null })
})
