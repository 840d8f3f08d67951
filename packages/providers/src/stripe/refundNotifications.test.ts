// Refunds and disputes in Stripe's events.
import t from 'tap'
import { payment_id, refund_id } from '../testing/requests.ts'
import { occurred_at, readEvent } from './testing/stripeHarness.ts'

const source = {
  provider_time: occurred_at,
  provider_event_id: 'evt_1',
  provider_intent_id: 'pi_1',
  provider_payment_id: 'ch_1',
}
const refund = {
  id: 're_1',
  object: 'refund',
  amount: 599,
  currency: 'eur',
  charge: 'ch_1',
  payment_intent: 'pi_1',
  status: 'succeeded',
  reason: null,
  metadata: {},
}
const refundTypes = ['refund.created', 'refund.updated', 'refund.failed', 'charge.refund.updated']

t.test('Stripe: each refund event reports the refund, with our ids if it names them', async (t) => {
  const report = { about: 'refund', ...source, provider_refund_id: 're_1', amount_cents: 599, status: 'succeeded' }
  for (const type of refundTypes) {
    t.match(
      readEvent(type, refund),
      {
        generic_type: null,
        object_id: 're_1',
        amount_cents: 599,
        currency: 'EUR',
        status: 'succeeded',
        referenced_payment_id: null,
        report: { ...report, refund_id: null, reason: 'other' },
      },
      type,
    )
    const ours = { ...refund, metadata: { payment_id, refund_id }, reason: 'duplicate' }
    t.match(
      readEvent(type, ours),
      { referenced_payment_id: payment_id, report: { ...report, refund_id, reason: 'duplicate' } },
      `${type} of ours`,
    )
  }
})

t.test('Stripe: each refund status maps to ours, with the reason of a failure', async (t) => {
  const statuses: readonly [object, string, string | undefined][] = [
    [{ status: 'pending' }, 'pending', undefined],
    [{ status: 'requires_action' }, 'pending', undefined],
    [{ status: 'succeeded' }, 'succeeded', undefined],
    [{ status: 'failed', failure_reason: 'lost_or_stolen_card' }, 'failed', 'lost_or_stolen_card'],
    [{ status: 'failed' }, 'failed', 'failed'],
    [{ status: 'canceled', failure_reason: 'merchant_request' }, 'failed', 'merchant_request'],
    [{ status: 'canceled' }, 'failed', 'canceled'],
    [{ status: 'something_new' }, 'pending', undefined],
    [{ status: null }, 'pending', undefined],
  ]
  for (const [difference, status, failure_code] of statuses) {
    const { report } = readEvent('refund.updated', { ...refund, ...difference })
    t.match(report, { status, ...(failure_code && { failure_code }) }, JSON.stringify(difference))
    t.equal('failure_code' in (report ?? {}), status === 'failed')
  }
})

t.test('Stripe: a refund’s reason of Stripe’s own is a note', async (t) => {
  const report = (reason: string) => readEvent('refund.created', { ...refund, reason }).report
  t.match(report('something_new'), { reason: 'other', note: 'something_new' })
  for (const reason of ['duplicate', 'fraudulent', 'requested_by_customer']) {
    t.match(report(reason), { reason })
    t.notOk('note' in (report(reason) ?? {}))
  }
})

t.test(
  'Stripe: a refund that is unreadable, or released an expired authorization, only identifies its payment',
  async (t) => {
    const objects = [
      { amount: undefined },
      { amount: '599' },
      { currency: null },
      { currency: 'isk', amount: 1050 },
      { reason: 'expired_uncaptured_charge' },
    ]
    for (const difference of objects)
      t.match(
        readEvent('refund.created', { ...refund, ...difference }),
        { report: { about: 'object', ...source } },
        JSON.stringify(difference),
      )
  },
)

const charge = {
  id: 'ch_1',
  object: 'charge',
  amount: 2599,
  amount_captured: 2599,
  amount_refunded: 1500,
  captured: true,
  currency: 'eur',
  payment_intent: 'pi_1',
  metadata: { payment_id },
}
const refundedReport = (difference: object) => readEvent('charge.refunded', { ...charge, ...difference }).report

t.test('Stripe: a refunded charge reports how much of it is refunded', async (t) => {
  t.match(readEvent('charge.refunded', charge, { amount_refunded: 500 }), {
    object_id: 'ch_1',
    amount_cents: 2599,
    referenced_payment_id: payment_id,
    report: { about: 'refunded_total', ...source, amount_cents: 1500 },
  })
  t.match(refundedReport({ amount_refunded: undefined }), { amount_cents: null })
  t.match(refundedReport({ currency: 'isk', amount_refunded: 1500 }), { amount_cents: 15 })
  t.match(refundedReport({ amount: undefined }), { amount_cents: 1500 }, 'a charge that is unreadable otherwise')
})

t.test('Stripe: a refunded charge that contains its refunds reports the latest one', async (t) => {
  const data = [
    { ...refund, id: 're_2', amount: 1000, metadata: { refund_id } },
    { ...refund, amount: 500 },
  ]
  t.match(refundedReport({ refunds: { data, has_more: false } }), {
    about: 'refund',
    ...source,
    refund_id,
    provider_refund_id: 're_2',
    amount_cents: 1000,
    status: 'succeeded',
  })
  t.match(refundedReport({ refunds: { data: [], has_more: false } }), { about: 'refunded_total' })
})

t.test('Stripe: what is released instead of captured is not refunded', async (t) => {
  t.match(refundedReport({ captured: false, amount_captured: 0, amount_refunded: 2599 }), { about: 'object' })
  const partial = { amount_captured: 2000, amount_refunded: 599 }
  t.match(refundedReport(partial), { about: 'refunded_total', amount_cents: 0 })
  const released = { data: [refund], has_more: false }
  t.match(refundedReport({ ...partial, refunds: released }), { about: 'refunded_total', amount_cents: 0 })
  const both = { data: [{ ...refund, id: 're_2' }, refund], has_more: false }
  const after = refundedReport({ ...partial, amount_refunded: 1198, refunds: both })
  t.match(after, { about: 'refund', provider_refund_id: 're_2', amount_cents: 599 })
})

const dispute = {
  id: 'dp_1',
  object: 'dispute',
  amount: 1000,
  currency: 'eur',
  charge: 'ch_1',
  payment_intent: 'pi_1',
  reason: 'product_not_received',
  evidence_details: { due_by: 1_767_268_800 },
}

t.test('Stripe: each dispute event reports the dispute and its status', async (t) => {
  const statuses = [
    ['warning_needs_response', 'open'],
    ['warning_under_review', 'open'],
    ['needs_response', 'open'],
    ['under_review', 'open'],
    ['something_new', 'open'],
    ['won', 'won'],
    ['warning_closed', 'won'],
    ['prevented', 'won'],
    ['Lost', 'lost'],
    ['charge_refunded', 'lost'],
  ] as const
  for (const type of ['created', 'updated', 'closed', 'funds_withdrawn', 'funds_reinstated'])
    for (const [provider_status, status] of statuses)
      t.match(
        readEvent(`charge.dispute.${type}`, { ...dispute, status: provider_status }),
        {
          generic_type: null,
          amount_cents: 1000,
          currency: 'EUR',
          report: {
            about: 'dispute',
            ...source,
            provider_dispute_id: 'dp_1',
            status,
            provider_status: provider_status.toLowerCase(),
            reason: 'product_not_received',
            evidence_due_by: '2026-01-01T12:00:00.000Z',
            amount_cents: 1000,
            currency: 'EUR',
          },
        },
        `${type} ${provider_status}`,
      )
})

t.test('Stripe: a report of a refund or a dispute has its own currency', async (t) => {
  const usd = { id: 'x_1', amount: 5600, currency: 'usd', charge: 'ch_1', status: 'succeeded' }
  for (const type of ['refund.created', 'charge.dispute.created'])
    t.match(readEvent(type, usd).report, { amount_cents: 5600, currency: 'USD' }, type)
  t.match(refundedReport({ currency: 'jpy', amount_refunded: 8100 }), { amount_cents: 8100, currency: 'JPY' })
})

t.test('Stripe: the dispute of a SEPA debit arrives closed, and its due time of zero is no time', async (t) => {
  const dispute = { id: 'dp_1', amount: 1000, currency: 'eur', status: 'lost', evidence_details: { due_by: 0 } }
  t.match(readEvent('charge.dispute.created', dispute).report, { status: 'lost', evidence_due_by: null })
})

t.test('Stripe: a dispute without details is open', async (t) => {
  t.match(readEvent('charge.dispute.closed', { id: 'dp_1', evidence_details: { due_by: null } }).report, {
    status: 'open',
    provider_status: 'unknown',
    reason: null,
    evidence_due_by: null,
    amount_cents: null,
    provider_intent_id: null,
    provider_payment_id: null,
  })
})
