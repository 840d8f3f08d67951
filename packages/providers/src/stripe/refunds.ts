// Refunds at Stripe: making one, and listing those of a charge. https://docs.stripe.com/api/refunds
import type { ReportSource } from '@paylog/domain/payments/statusReports'
import type Stripe from 'stripe'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { RefundCharge, ReportedRefund } from '../provider.ts'
import { unreadableResponse } from '../responses.ts'
import { rejectedIfAboutCurrency, type StripeApi, sentAmount } from './api.ts'
import { Refund, type RefundedCharge, refundIdIn, refundStatusOf, refundsOfMoney, reportedRefund } from './objects.ts'

const refundResponse = Compile(Refund)
const refundList = Compile(Type.Object({ data: Type.Array(Refund), has_more: Type.Boolean() }))

const pageSize = 100
/** A charge has a few refunds. */
const maxPages = 20

/** Other ids are not of charges. https://docs.stripe.com/api/charges */
const chargeId = /^(ch|py)_\w+$/

/**
 * Refunds a charge. Stripe forgets a key after a day, so a repeated call first looks for the refund that names ours.
 * @throws ProviderError
 */
export async function refundCharge(api: StripeApi, request: RefundCharge): Promise<ReportedRefund> {
  const { payment_id, refund_id, reason, provider_intent_id, provider_payment_id: charge } = request
  const amount = sentAmount(request.amount_cents, request.currency)
  const of = charge !== null && chargeId.test(charge) ? { charge } : { payment_intent: provider_intent_id }
  const earlier = request.is_repeated ? await findRefund(of, refund_id, api) : undefined
  if (earlier) return checkedReport(earlier.refund, amount, request, earlier.provider_time)
  const params: Stripe.RefundCreateParams = {
    ...of,
    amount,
    metadata: { payment_id, refund_id },
    ...(reason === 'other' ? {} : { reason }),
  }
  const { body, responded_at } = await api
    .request(refundResponse, (stripe) => stripe.refunds.create(params, { idempotencyKey: request.idempotency_key }))
    .catch(rejectedIfAboutCurrency)
  return checkedReport(body, amount, request, responded_at)
}

function checkedReport(refund: Refund, amount: number, request: RefundCharge, provider_time: string): ReportedRefund {
  const { provider_intent_id, provider_payment_id, refund_id } = request
  const source = { provider_time, provider_event_id: null, provider_intent_id, provider_payment_id }
  const reported = reportedRefund(refund, source)
  const isOther = (refundIdIn(refund) ?? refund_id) !== refund_id || reported?.provider_intent_id !== provider_intent_id
  if (reported === null || isOther || refund.amount !== amount) throw unreadableResponse('another_refund')
  if (refundStatusOf(refund) === undefined) throw unreadableResponse('another_status')
  return { ...reported, refund_id }
}

type RefundsOf = { readonly charge: string } | { readonly payment_intent: string }

async function findRefund(of: RefundsOf, refundId: string, api: StripeApi) {
  const { refunds, provider_time } = await listRefunds(of, api)
  const refund = refunds.find((each) => refundIdIn(each) === refundId)
  return refund && { refund, provider_time }
}

/** @param known the refunds that were read already, the newest ones */
async function listRefunds(of: RefundsOf, api: StripeApi, known: readonly Refund[] = []) {
  const refunds = [...known]
  let provider_time = new Date().toISOString()
  for (let pages = 0; pages < maxPages; pages++) {
    const last = refunds.at(-1)
    const after = last === undefined ? {} : { starting_after: last.id }
    const { body, responded_at } = await api.request(refundList, (stripe) =>
      stripe.refunds.list({ ...of, limit: pageSize, ...after }),
    )
    provider_time = responded_at
    refunds.push(...body.data)
    if (!body.has_more || body.data.length === 0) break
  }
  return { refunds, provider_time }
}

/** All refunds of a charge, newest first. Asks for those that are not expanded in it. */
export async function allRefundsOf(
  { id: charge, refunds }: RefundedCharge,
  api: StripeApi,
): Promise<readonly Refund[]> {
  if (refunds && !refunds.has_more) return refunds.data
  return (await listRefunds({ charge }, api, refunds?.data)).refunds
}

/** What Stripe says of the refunds of a charge, without what was released instead of captured. */
export async function reportedRefundsOf(
  charge: RefundedCharge,
  source: ReportSource,
  api: StripeApi,
): Promise<readonly ReportedRefund[]> {
  const { provider_time, provider_intent_id } = source
  const of = { provider_time, provider_event_id: null, provider_intent_id, provider_payment_id: charge.id }
  const refunds = refundsOfMoney(charge, await allRefundsOf(charge, api))
  return refunds.flatMap((refund) => reportedRefund(refund, of) ?? [])
}
