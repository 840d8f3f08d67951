// Refunds, reversals and disputes in PayPal's notifications.
import t from 'tap'
import { payment_id, refund_id } from '../testing/requests.ts'
import { readBody, readEvent, withCaptured } from './testing/paypalHarness.ts'

t.test('PayPal: a refund from the dashboard is matched to its capture by its link', async (t) => {
  const { fake, captureId } = await withCaptured(t)
  const refund = readBody(fake.refund(captureId, '5.00'))
  t.match(refund, {
    generic_type: null,
    amount_cents: 500,
    currency: 'EUR',
    referenced_payment_id: payment_id,
    report: {
      about: 'refund',
      refund_id: null,
      provider_refund_id: refund.object_id,
      amount_cents: 500,
      currency: 'EUR',
      status: 'succeeded',
      provider_payment_id: captureId,
      provider_intent_id: null,
    },
  })
})

t.test('PayPal: a reversal is a refund with the reason other and a note', async (t) => {
  const { fake, captureId } = await withCaptured(t)
  fake.refund(captureId, '5.00')
  const reversal = readBody(fake.reverse(captureId))
  t.match(reversal.report, {
    about: 'refund',
    status: 'succeeded',
    amount_cents: 1499,
    provider_payment_id: captureId,
    reason: 'other',
    note: 'reversed',
  })
  const old = { id: 'C1', amount: { currency_code: 'EUR', value: '19.99' }, status: 'REVERSED' }
  t.match(
    readEvent('PAYMENT.CAPTURE.REVERSED', { ...old, status_details: { reason: 'CHARGEBACK' } }, 'capture').report,
    {
      about: 'refund',
      status: 'succeeded',
      amount_cents: 1999,
      provider_refund_id: null,
      provider_payment_id: 'C1',
      note: 'chargeback',
    },
  )
})

t.test('PayPal: a refund of ours names its payment and itself', (t) => {
  const resource = { id: 'R1', custom_id: `${payment_id}.${refund_id}`, status: 'COMPLETED' }
  t.match(readEvent('PAYMENT.CAPTURE.REFUNDED', resource, 'refund'), {
    referenced_payment_id: payment_id,
    report: { refund_id, provider_refund_id: 'R1' },
  })
  for (const custom_id of [
    payment_id,
    `${payment_id}.`,
    `.${refund_id}`,
    `${payment_id}.x`,
    `a.${refund_id}`,
    'a.b',
    17,
  ])
    t.match(readEvent('PAYMENT.CAPTURE.REFUNDED', { ...resource, custom_id }, 'refund').report, { refund_id: null })
  t.end()
})

t.test('PayPal: a refund has the status that its notification reports', (t) => {
  const rows = [
    ['PAYMENT.CAPTURE.REFUNDED', 'COMPLETED', 'succeeded'],
    ['PAYMENT.CAPTURE.REFUNDED', undefined, 'succeeded'],
    ['PAYMENT.CAPTURE.REFUNDED', 'PENDING', 'pending'],
    ['PAYMENT.CAPTURE.REFUNDED', 'CANCELLED', 'failed'],
    ['PAYMENT.CAPTURE.REFUNDED', 'constructor', 'succeeded'],
    ['PAYMENT.REFUND.PENDING', 'PENDING', 'pending'],
    ['PAYMENT.REFUND.PENDING', undefined, 'pending'],
    ['PAYMENT.REFUND.FAILED', 'FAILED', 'failed'],
    ['PAYMENT.REFUND.FAILED', 'COMPLETED', 'failed'],
  ] as const
  for (const [type, state, status] of rows)
    t.match(
      readEvent(type, { id: 'R1', status: state }, 'refund').report,
      { about: 'refund', status },
      `${type} ${state}`,
    )
  const failed = { id: 'R1', status: 'FAILED', status_details: { reason: 'ECHECK' } }
  t.match(readEvent('PAYMENT.REFUND.FAILED', failed, 'refund').report, { failure_code: 'echeck' })
  t.match(readEvent('PAYMENT.REFUND.FAILED', { id: 'R1' }, 'refund').report, { failure_code: 'failed' })
  t.end()
})

t.test('PayPal: a refund without a link is matched by related ids, or its total has to be asked for', (t) => {
  const links = [{ rel: 'self', href: 'https://api.paypal.com/v2/payments/refunds/R1' }]
  const related = { supplementary_data: { related_ids: { capture_id: 'C9', order_id: 'O9' } } }
  t.match(readEvent('PAYMENT.CAPTURE.REFUNDED', { id: 'R1', links }, 'refund').report, {
    provider_refund_id: 'R1',
    provider_payment_id: null,
  })
  t.match(readEvent('PAYMENT.CAPTURE.REFUNDED', { id: 'R1', ...related }, 'refund').report, {
    provider_payment_id: 'C9',
    provider_intent_id: 'O9',
  })
  t.match(readEvent('PAYMENT.CAPTURE.REFUNDED', { id: 'C1', links: 'none' }, 'capture').report, {
    about: 'refunded_total',
    provider_payment_id: 'C1',
    amount_cents: null,
  })
  t.end()
})

t.test('PayPal: a dispute reports the disputed capture and our payment', async (t) => {
  const { fake, captureId } = await withCaptured(t)
  const opened = readBody(fake.dispute(captureId))
  const dispute = { about: 'dispute', provider_dispute_id: opened.object_id, provider_payment_id: captureId }
  t.match(opened, {
    generic_type: null,
    object_id: /^PP-D-/,
    status: 'open',
    amount_cents: 1999,
    referenced_payment_id: payment_id,
    report: {
      ...dispute,
      status: 'open',
      provider_status: 'open',
      reason: 'merchandise_or_service_not_received',
      evidence_due_by: '2026-12-31T23:59:59.000Z',
      amount_cents: 1999,
    },
  })
  const waiting = fake.dispute(captureId, 'UPDATED', 'WAITING_FOR_SELLER_RESPONSE')
  t.match(readBody(waiting).report, {
    ...dispute,
    status: 'open',
    provider_status: 'waiting_for_seller_response',
  })
})

t.test('PayPal: a dispute in another currency, due at the beginning of 1970, has no due time', async (t) => {
  const dispute_amount = { currency_code: 'USD', value: '56.10' }
  const dispute = { dispute_id: 'D1', status: 'OPEN', dispute_amount, seller_response_due_date: '1970-01-01T00:00:00Z' }
  const { report } = readEvent('CUSTOMER.DISPUTE.CREATED', dispute)
  t.match(report, { amount_cents: 5610, currency: 'USD', evidence_due_by: null })
})

t.test('PayPal: a resolved dispute is won or lost by its outcome', async (t) => {
  const { fake, captureId } = await withCaptured(t)
  const rows = {
    RESOLVED_BUYER_FAVOUR: 'lost',
    ACCEPTED: 'lost',
    RESOLVED_SELLER_FAVOUR: 'won',
    RESOLVED_WITH_PAYOUT: 'won',
    CANCELED_BY_BUYER: 'won',
    DENIED: 'won',
    NONE: 'won',
  }
  for (const [outcome, status] of Object.entries(rows)) {
    const resolved = fake.dispute(captureId, 'RESOLVED', 'RESOLVED', outcome)
    const { report } = readBody(resolved)
    t.match(report, { about: 'dispute', status, provider_status: outcome.toLowerCase() }, outcome)
  }
  t.end()
})

t.test('PayPal: a dispute resolved in an unknown way is lost if the payer was given money', (t) => {
  const resolved = (dispute_outcome: object | undefined) =>
    readEvent('CUSTOMER.DISPUTE.RESOLVED', { dispute_id: 'D1', status: 'RESOLVED', dispute_outcome }).report
  const amount_refunded = { currency_code: 'EUR', value: '5.00' }
  t.match(resolved({ outcome_code: 'SOMETHING_NEW', amount_refunded }), {
    status: 'lost',
    provider_status: 'something_new',
  })
  t.match(resolved({ outcome_code: 'constructor' }), { status: 'won' })
  t.match(resolved(undefined), { status: 'won', provider_status: 'resolved' })
  t.match(readEvent('CUSTOMER.DISPUTE.UPDATED', {}).report, {
    provider_dispute_id: null,
    status: 'open',
    provider_status: 'unknown',
    reason: null,
    evidence_due_by: null,
    amount_cents: null,
  })
  t.end()
})
