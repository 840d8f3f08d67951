// Refunds a payment at PayPal.
import type { IntentRef, RefundCharge, ReportedRefund } from '../provider.ts'
import type { PaypalClient } from './client.ts'
import { statusOfCapture } from './fields.ts'
import { deadline, findOrder } from './orders.ts'
import { refundCapture } from './refunds.ts'
import { capturesOf } from './snapshots.ts'

/**
 * Refunds the payment's capture. Without its id, the order's only capture is meant.
 * @throws ProviderError, see `refundCapture`
 */
export async function refundPayment(client: PaypalClient, request: RefundCharge): Promise<ReportedRefund> {
  const remainingMs = deadline(client)
  const captureId = request.provider_payment_id ?? (await onlyCapture(client, request, remainingMs()))
  return refundCapture(client, request, { captureId, timeoutMs: remainingMs() })
}

async function onlyCapture(client: PaypalClient, { provider_intent_id }: IntentRef, timeoutMs: number) {
  const found = await findOrder(client, provider_intent_id, timeoutMs)
  const captures = capturesOfOrder(found)
  return captures.length === 1 ? (captures[0]?.id ?? null) : null
}

const capturesOfOrder = (found: Awaited<ReturnType<typeof findOrder>>) =>
  found ? capturesOf(found.order).filter((capture) => statusOfCapture(capture) === 'succeeded') : []
