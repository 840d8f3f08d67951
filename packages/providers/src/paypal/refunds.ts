// Refunds of captures: what PayPal says of one, and the call that makes one.
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import { instantAt } from '../lenient.ts'
import { ProviderError, type RefundCharge, type ReportedRefund } from '../provider.ts'
import { ErrorResponse } from '../providerApi.ts'
import type { PaypalApi } from './client.ts'
import {
  linkedCapture,
  Money,
  refundCustomId,
  refundFailure,
  refundIdIn,
  refundStatuses,
  statusIn,
  toCents,
  toMoney,
} from './fields.ts'

export const Refund = Type.Object({
  id: Code,
  status: Type.String(),
  amount: Type.Optional(Money),
  status_details: Type.Optional(Type.Object({ reason: Type.Optional(Code) })),
})
type Refund = Static<typeof Refund>
const refundResponse = Compile(Refund)

type Context = {
  readonly provider_intent_id: string
  /** The capture, for when the refund does not link to it. */
  readonly provider_payment_id: string | null
  readonly responded_at: string
}

/**
 * Reads a refund in a response.
 * @throws ProviderError `unknown` for an unknown status
 */
export function reportedRefund(refund: Refund, context: Context): ReportedRefund {
  const status = statusIn(refundStatuses, refund)
  return {
    provider_time: instantAt(refund, 'update_time') ?? instantAt(refund, 'create_time') ?? context.responded_at,
    provider_event_id: null,
    provider_intent_id: context.provider_intent_id,
    provider_payment_id: linkedCapture(refund) ?? context.provider_payment_id,
    refund_id: refundIdIn(refund),
    provider_refund_id: refund.id,
    refund_cents: refund.amount ? toCents(refund.amount) : null,
    status,
    ...(status === 'failed' && { failure_code: refundFailure(refund.status, refund.status_details?.reason) }),
  }
}

/**
 * Refunds a capture. PayPal keeps the key for 45 days.
 * @param captureId of the payment; `null` when none is known
 * @throws ProviderError; `rejected` with PayPal's issue as its code when PayPal does not refund the capture
 */
export async function refundCapture(
  api: PaypalApi,
  request: RefundCharge,
  captureId: string | null,
): Promise<ReportedRefund> {
  if (captureId === null) throw rejectedRefund('capture_not_found')
  const { payment_id, refund_id, amount_cents, currency, idempotency_key: key, provider_intent_id } = request
  const custom_id = refundCustomId(payment_id, refund_id)
  const path = `/v2/payments/captures/${encodeURIComponent(captureId)}/refund`
  const body = JSON.stringify({ amount: toMoney(amount_cents, currency), custom_id })
  const call = { method: 'POST', path, key, body } as const
  const refunded = await api.request(refundResponse, call).catch((error: unknown) => {
    throw error instanceof ErrorResponse ? rejectedRefund(error.code) : error
  })
  const { responded_at } = refunded
  const reported = reportedRefund(refunded.body, { provider_intent_id, provider_payment_id: captureId, responded_at })
  return { ...reported, refund_id, refund_cents: reported.refund_cents ?? amount_cents }
}

const rejectedRefund = (code: string) => new ProviderError('rejected', code, 'PayPal rejected the refund')
