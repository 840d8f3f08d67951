// What PayPal's dispute notifications report.
import type { DisputeStatus } from '@paylog/domain/payments/events'
import { codeAt, instantAt } from '../lenient.ts'
import type { ProviderReport } from '../provider.ts'
import { amountAt } from './fields.ts'

type DisputeReport = Extract<ProviderReport, { about: 'dispute' }>

/** https://developer.paypal.com/docs/api/customer-disputes/v1/#disputes_get */
const outcomes: ReadonlyMap<string, DisputeStatus> = new Map([
  ['RESOLVED_BUYER_FAVOUR', 'lost'],
  ['ACCEPTED', 'lost'],
  ['RESOLVED_SELLER_FAVOUR', 'won'],
  // PayPal itself compensates the payer.
  ['RESOLVED_WITH_PAYOUT', 'won'],
  ['CANCELED_BY_BUYER', 'won'],
  ['DENIED', 'won'],
  // Closed without a decision, because another dispute was opened.
  ['NONE', 'won'],
])

/** @param resource the dispute */
export function disputeReport(resource: unknown): Omit<DisputeReport, 'provider_time' | 'provider_event_id'> {
  const state = codeAt(resource, 'status')
  const outcome = codeAt(resource, 'dispute_outcome', 'outcome_code')
  const isClosed = state === 'RESOLVED'
  return {
    about: 'dispute',
    provider_intent_id: null,
    // Seen from us, the payer's transaction is our capture.
    provider_payment_id: codeAt(resource, 'disputed_transactions', 0, 'seller_transaction_id'),
    provider_dispute_id: codeAt(resource, 'dispute_id'),
    status: isClosed ? closedStatus(resource, outcome) : 'open',
    provider_status: ((isClosed && outcome) || (state ?? 'unknown')).toLowerCase(),
    reason: codeAt(resource, 'reason')?.toLowerCase() ?? null,
    evidence_due_by: instantAt(resource, 'seller_response_due_date'),
    disputed_cents: amountAt(resource, 'dispute_amount').amount_cents,
  }
}

/** Without a known outcome it is lost if the payer was given money. */
function closedStatus(resource: unknown, outcome: string | null): DisputeStatus {
  const known = outcomes.get(outcome ?? '')
  if (known) return known
  return (amountAt(resource, 'dispute_outcome', 'amount_refunded').amount_cents ?? 0) > 0 ? 'lost' : 'won'
}
