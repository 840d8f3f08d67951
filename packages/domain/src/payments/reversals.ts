// Money of a charge that the provider took back: a void before settlement, or a returned eCheck.
import type { PaymentEvent } from './events.ts'
import { paymentFold } from './fold.ts'
import { existingPayment, type Payment, type PaymentState } from './payment.ts'
import { hasEnded } from './providerCall.ts'
import { recordRefund } from './refunds.ts'
import { type RecordStatus, type Reversal, recordStatus } from './statusReports.ts'

/**
 * Applies a report about the status, as `recordStatus` does. A charge that was reversed after its money was received counts
 * as a refund of all of it, and does not end the payment.
 */
export function recordStatusAndReversals(command: RecordStatus, state: PaymentState): PaymentEvent[] {
  const { reversals = [], ...report } = command
  const isOfReversed = reversals.some(({ provider_payment_id: charge }) => charge === command.provider_payment_id)
  const isReceived = chargeOf(existingPayment(state), command.provider_payment_id) !== undefined
  const isRefund = isOfReversed && isReceived && command.status !== 'succeeded'
  const events = isRefund ? [] : recordStatus(report, state)
  for (const reversal of reversals) events.push(...recordReversal(command, reversal, events.reduce(evolve, state)))
  return events
}

const { evolve } = paymentFold

function chargeOf({ charges }: Payment, charge: string | null) {
  return charges.find(({ provider_payment_id }) => provider_payment_id !== null && provider_payment_id === charge)
}

/** Nothing is recorded of a charge whose money was not received. */
function recordReversal(
  { occurred_at, provider_time, provider_event_id, provider_intent_id }: RecordStatus,
  { provider_payment_id, note }: Reversal,
  state: PaymentState,
): PaymentEvent[] {
  const payment = existingPayment(state)
  const charge = chargeOf(payment, provider_payment_id)
  if (!charge) return []
  // A refund of ours may have reversed it, whose response is not recorded yet.
  const own = payment.refunds.find(
    (refund) =>
      !hasEnded(refund.call) &&
      refund.provider_payment_id === provider_payment_id &&
      refund.amount_cents === charge.received_cents,
  )
  const report = { occurred_at, provider_time, provider_event_id, provider_intent_id, provider_payment_id }
  return recordRefund(
    {
      ...report,
      refund_id: own?.refund_id ?? null,
      provider_refund_id: provider_payment_id,
      amount_cents: charge.received_cents,
      currency: payment.currency,
      status: 'succeeded',
      reason: 'other',
      note,
    },
    state,
  )
}
