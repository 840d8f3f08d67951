import t from 'tap'
import type { Chain } from './duplicates.ts'
import type { PaymentEvent } from './events.ts'
import { paymentFold } from './fold.ts'
import { existingPayment, type PaymentState } from './payment.ts'

/** Fields of every event of this payment. */
const facts = {
  payment_id: '018f0000-0000-7000-8000-000000000001',
  provider_id: 'sandbox',
  amount_cents: 2599,
  currency: 'EUR',
  payer: { id: 'u1', type: 'customer', email: 'ann@example.com' },
  project_id: null,
}
const at = (second: string) => `2026-01-01T00:00:${second}.000Z`
const report = (second: string, provider_event_id: string | null, provider_payment_id: string | null = null) => ({
  ...facts,
  occurred_at: at(second),
  provider_time: at(second),
  provider_event_id,
  provider_payment_id,
})

const ignored = { reported_intent_id: null, attention: null }

/** The events of a payment exactly as version 1.0.0 wrote them. Never edit them. */
const storedEvents: readonly PaymentEvent[] = [
  {
    type: 'PaymentInitiated',
    data: {
      ...facts,
      occurred_at: at('00'),
      subtotal_cents: 2599,
      tax_cents: 0,
      discount_cents: 0,
      total_cents: 2599,
      concept: null,
      description: null,
      reference_code: null,
      category: null,
      tags: null,
      payment_method_id: null,
      provider_method: null,
      capture_method: 'automatic',
      return_url: null,
      cancel_url: null,
      statement_descriptor: null,
      expires_at: null,
      is_guest_payment: false,
      guest_email: null,
      guest_name: null,
      guest_phone: null,
      metadata: { order: 7 },
      request_fingerprint: null,
    },
  },
  {
    type: 'ProviderCallFailed',
    data: {
      ...facts,
      occurred_at: at('01'),
      call: 'create',
      attempt: 1,
      refund_id: null,
      outcome: 'rejected',
      error_code: 'provider_unavailable',
      failure_code: 'connection_refused',
      failure_message: 'The provider is down',
    },
  },
  { type: 'PaymentAttemptStarted', data: { ...facts, occurred_at: at('02'), attempt: 2 } },
  {
    type: 'ProviderCallFailed',
    data: {
      ...facts,
      occurred_at: at('03'),
      call: 'create',
      attempt: 2,
      refund_id: null,
      outcome: 'unknown',
      error_code: null,
      failure_code: 'timeout',
      failure_message: 'The provider did not respond',
    },
  },
  {
    type: 'ProviderIntentCreated',
    data: {
      ...facts,
      occurred_at: at('04'),
      provider_intent_id: 'pi_1',
      client_secret: 'secret',
      redirect_url: null,
      attempt: 2,
    },
  },
  { type: 'PaymentActionRequired', data: report('05', 'evt_5') },
  { type: 'PaymentProcessingStarted', data: { ...report('06', 'evt_6'), capturable_cents: 0 } },
  {
    type: 'ProviderEventIgnored',
    data: { ...report('07', 'evt_7'), ...ignored, reported_status: 'pending', reason: 'regression' },
  },
  {
    type: 'ProviderEventIgnored',
    data: { ...report('06', 'evt_8'), ...ignored, reported_status: 'failed', reason: 'stale' },
  },
  {
    type: 'PaymentAttemptFailed',
    data: { ...report('09', 'evt_9', 'ch_1'), failure_code: 'expired_card', failure_message: 'Expired' },
  },
  {
    type: 'PaymentAttemptFailed',
    data: {
      ...report('10', 'evt_10', 'ch_1'),
      failure_code: 'expired_card',
      failure_message: 'Expired',
    },
  },
  {
    type: 'ProviderEventIgnored',
    data: {
      ...report('11', 'evt_11'),
      reported_status: 'failed',
      reason: 'foreign_intent',
      reported_intent_id: 'pi_2',
      attention: 'foreign_intent',
    },
  },
  {
    type: 'PaymentAmountMismatch',
    data: {
      ...report('12', 'evt_12', 'ch_2'),
      reported_amount_cents: 1,
      reported_currency: null,
      attention: 'amount_mismatch',
    },
  },
  { type: 'PaymentCanceled', data: { ...report('13', 'evt_13'), reason: 'abandoned' } },
  {
    type: 'PaymentConflictDetected',
    data: {
      ...report('14', 'evt_14', 'ch_3'),
      reported_status: 'succeeded',
      reported_amount_cents: null,
      reported_currency: null,
      attention: 'money_after_cancellation',
    },
  },
  {
    type: 'ProviderEventIgnored',
    data: { ...report('15', 'evt_15'), ...ignored, reported_status: 'processing', reason: 'final' },
  },
]

const lengthOf = (chain: Chain<string>): number => (chain === null ? 0 : 1 + lengthOf(chain.before))

t.test('events of version 1.0.0 fold to the same payment', async (t) => {
  const payment = existingPayment(storedEvents.reduce<PaymentState>(paymentFold.evolve, paymentFold.initialState))
  t.match(payment, {
    status: 'canceled',
    provider_intent_id: 'pi_1',
    client_secret: null,
    provider_payment_id: 'ch_1',
    created_at: at('00'),
    updated_at: at('13'),
    completed_at: at('13'),
    create: { attempt: 2, started_at: at('02'), outcome: 'done' },
    was_unknown: true,
    report_time: at('13'),
    failures: 2,
    approvals_reported: 1,
  })
  t.same(payment.failed_charges, ['ch_1', 'ch_1'])
  t.match(payment.attention, [
    { code: 'foreign_intent' },
    { code: 'amount_mismatch' },
    { code: 'money_after_cancellation' },
  ])
  t.equal(lengthOf(payment.seen_provider_events), 11)
  t.equal(lengthOf(payment.recorded_content), 6)
})

t.test('a success recorded twice keeps the completed_at of the first', async (t) => {
  const succeeded = ['13', '14'].map((second) => ({
    type: 'PaymentSucceeded' as const,
    data: { ...report(second, null), received_cents: 2599 },
  }))
  const payment = existingPayment(
    [...storedEvents.slice(0, 2), ...succeeded].reduce<PaymentState>(paymentFold.evolve, paymentFold.initialState),
  )
  t.match(payment, { status: 'succeeded', completed_at: at('13'), updated_at: at('14') })
})

t.test('events of version 1.0.0 fold to the same sequence of statuses', async (t) => {
  const statuses = storedEvents.map((_, index) => {
    const history = storedEvents.slice(0, index + 1)
    return history.reduce<PaymentState>(paymentFold.evolve, paymentFold.initialState).status
  })
  t.same(statuses, [
    'pending',
    'failed',
    ...Array(4).fill('pending'),
    ...Array(3).fill('processing'),
    ...Array(4).fill('failed'),
    ...Array(3).fill('canceled'),
  ])
})

t.test('events of a payment that was never initiated leave the state unchanged', async (t) => {
  for (const event of storedEvents.slice(1)) t.same(paymentFold.evolve({ status: 'none' }, event), { status: 'none' })
})
