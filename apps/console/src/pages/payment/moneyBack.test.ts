import t from 'tap'
import type { HistoryEntry } from '../../api/apiTypes.ts'
import { disputesOf, payerOf, pendingRefunds, refundsOf } from './moneyBack.ts'

const entry = (type: string, second: number, data: Record<string, unknown>): HistoryEntry => ({
  position: '1',
  revision: second,
  type,
  occurred_at: `2026-01-31T12:00:0${second}.000Z`,
  actor: 'worker',
  correlation_id: 'c',
  causation_id: 'c',
  status_after: 'succeeded',
  data,
})
const requested = entry('RefundRequested', 1, { refund_id: 'r', refund_cents: 500, reason: 'duplicate', note: 'twice' })

t.test('a refund is pending until the provider has decided', async (t) => {
  const unknown = entry('ProviderCallFailed', 2, { refund_id: 'r', outcome: 'unknown', failure_code: 'timeout' })
  t.match(refundsOf([requested, unknown]), [
    { id: 'r', cents: 500, status: 'pending', reason: 'duplicate', note: 'twice' },
  ])
  const recorded = entry('RefundRecorded', 3, {
    refund_id: 'r',
    refund_cents: null,
    status: 'succeeded',
    reason: 'other',
  })
  t.match(refundsOf([requested, unknown, recorded]), [{ cents: 500, status: 'succeeded', at: requested.occurred_at }])
  t.same([pendingRefunds([requested, unknown]), pendingRefunds([requested, unknown, recorded])], [500, 0])
})

t.test('a refund in another currency has no amount but the reported one', async (t) => {
  const other = { refund_cents: null, reported_amount_cents: 5600, reported_currency: 'USD', status: 'succeeded' }
  const recorded = entry('RefundRecorded', 2, { refund_id: 'r', ...other })
  t.match(refundsOf([requested, recorded]), [{ cents: null, reported: { cents: 5600, currency: 'USD' } }])
})

t.test('a refund that the provider rejected has failed', async (t) => {
  const rejected = entry('ProviderCallFailed', 2, { refund_id: 'r', outcome: 'rejected', failure_code: 'too_late' })
  t.match(refundsOf([requested, rejected]), [{ status: 'failed', failure: 'too_late', reason: 'duplicate' }])
})

t.test('a dispute has its last status', async (t) => {
  const open = { dispute_id: 'd', status: 'open', disputed_cents: 900, reason: 'fraud', evidence_due_by: null }
  const won = { dispute_id: 'd', status: 'won', disputed_cents: null, reason: null, evidence_due_by: null }
  const entries = [entry('PaymentDisputeRecorded', 1, open), entry('PaymentDisputeRecorded', 2, won)]
  t.match(disputesOf(entries), [{ id: 'd', status: 'won', cents: 900, reason: 'fraud' }])
})

t.test('the payer is who the first event names', async (t) => {
  const payer = { id: 'u-1', type: 'user', email: 'ada@example.com' }
  t.match(payerOf([entry('PaymentInitiated', 0, { payer, guest_name: null })]), {
    userId: 'u-1',
    email: 'ada@example.com',
  })
  const guest = { payer: { id: null, type: 'guest', email: 'g@example.com' }, guest_name: 'G', guest_phone: '+34' }
  t.match(payerOf([entry('PaymentInitiated', 0, guest)]), {
    userId: null,
    email: 'g@example.com',
    name: 'G',
    phone: '+34',
  })
  t.match(payerOf([]), { userId: null, email: null, isErased: false })
})

t.test('a payer is erased when the first event has lost its metadata', async (t) => {
  const payer = { id: null, type: 'guest', email: null }
  t.match(payerOf([entry('PaymentInitiated', 0, { payer, metadata: {} })]), { isErased: false })
  t.match(payerOf([entry('PaymentInitiated', 0, { payer, metadata: null })]), { email: null, isErased: true })
})
