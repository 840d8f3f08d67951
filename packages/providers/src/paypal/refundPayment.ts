// Refunds a payment at PayPal.
import type { IntentRef, RefundCharge, ReportedRefund } from '../provider.ts'
import type { PaypalApi } from './client.ts'
import { statusOfCapture } from './fields.ts'
import { findOrder } from './orders.ts'
import { refundCapture } from './refunds.ts'
import { capturesOf } from './snapshots.ts'

/**
 * Refunds the payment's capture. Without its id, the order's only capture is meant.
 * @throws ProviderError, see `refundCapture`
 */
export async function refundPayment(api: PaypalApi, request: RefundCharge): Promise<ReportedRefund> {
  return refundCapture(api, request, request.provider_payment_id ?? (await onlyCapture(api, request)))
}

async function onlyCapture(api: PaypalApi, { provider_intent_id }: IntentRef) {
  const found = await findOrder(api, provider_intent_id)
  const captures = found ? capturesOf(found.order).filter((each) => statusOfCapture(each) === 'succeeded') : []
  return captures.length === 1 ? (captures[0]?.id ?? null) : null
}
