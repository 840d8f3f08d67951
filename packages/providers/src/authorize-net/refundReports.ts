// Refunds of Authorize.Net in the provider-independent form.
import type { ReportedRefund } from '../provider.ts'
import type { Transaction } from './api.ts'
import { amountOf } from './fields.ts'
import { isRefunded, isTransactionId } from './statuses.ts'
import type { Read } from './transactions.ts'

/** The description of our refunds, which names them: the gateway has no other field that it returns. */
export const refundDescription = (refundId: string) => `Refund ${refundId}`

/** @returns our id of a refund; `null` for one that was made elsewhere */
export function refundIdOf({ order }: Transaction): string | null {
  const [, id] = /^Refund ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(order?.description ?? '') ?? []
  return id ?? null
}

/**
 * @param of `provider_event_id` of the notification about it
 * @returns `null` for a refund that was declined, and so gave nothing back
 * @throws ProviderError when the amount is unreadable
 */
export function reportedRefundOf(
  { body: refund, responded_at }: Read<Transaction>,
  of: { readonly provider_intent_id: string; readonly provider_event_id?: string },
): ReportedRefund | null {
  const status = statusOfRefund(refund)
  if (status === null) return null
  const { transId, refTransId } = refund
  return {
    provider_time: responded_at,
    provider_event_id: of.provider_event_id ?? null,
    provider_intent_id: of.provider_intent_id,
    provider_payment_id: refTransId && isTransactionId(refTransId) ? refTransId : null,
    refund_id: refundIdOf(refund),
    provider_refund_id: transId,
    refund_cents: amountOf(refund, status === 'succeeded' ? 'settleAmount' : 'authAmount'),
    status,
    ...(status === 'failed' && { failure_code: refund.transactionStatus }),
  }
}

/** An accepted refund can be voided until it settles, and rejected by the settlement. */
function statusOfRefund(refund: Transaction): 'succeeded' | 'failed' | null {
  if (isRefunded(refund)) return 'succeeded'
  return ['voided', 'settlementError'].includes(refund.transactionStatus) ? 'failed' : null
}
