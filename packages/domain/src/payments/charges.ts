// The money of a payment, folded from its events: charges, refunds and disputes.
import type { DisputeStatus, PaymentEvent, RefundReason, RefundStatus } from './events.ts'
import { type CallFailed, doneCall, failedCall, type ProviderCall, startedCall } from './providerCall.ts'
import { inPaymentCurrency, type RecordedAmount } from './reportedMoney.ts'

/** Money that the provider received for a payment. */
export type Charge = {
  /** Null when the provider did not name it. */
  readonly provider_payment_id: string | null
  readonly received_cents: number
}

export type RefundState = RecordedAmount & {
  readonly refund_id: string
  readonly status: RefundStatus
  readonly reason: RefundReason
  readonly note: string | null
  /** The charge. */
  readonly provider_payment_id: string | null
  readonly provider_refund_id: string | null
  readonly failure_code: string | null
  /** Null for one that was not requested here, or without an Idempotency-Key. */
  readonly request_fingerprint: string | null
  readonly created_at: string
  readonly updated_at: string
  /** Our call to the provider; done for a refund that was made elsewhere. */
  readonly call: ProviderCall
}

export type DisputeState = RecordedAmount & {
  readonly dispute_id: string
  readonly provider_dispute_id: string | null
  readonly status: DisputeStatus
  readonly provider_status: string
}

export type Money = {
  readonly charges: readonly Charge[]
  readonly refunds: readonly RefundState[]
  readonly disputes: readonly DisputeState[]
}

export const noMoney: Money = { charges: [], refunds: [], disputes: [] }

/** What the payer paid, in minor units, after a cancellation or in another amount too. */
export function receivedOf({ charges }: Pick<Money, 'charges'>): number {
  return charges.reduce((sum, { received_cents }) => sum + received_cents, 0)
}

/** What was given back: succeeded refunds only. */
export function refundedOf({ refunds }: Pick<Money, 'refunds'>): number {
  return sumOf(refunds.filter(({ status }) => status === 'succeeded'))
}

/** Of refunds, in minor units of the payment's currency, as far as it is known. */
export const sumOf = (refunds: readonly RefundState[]) =>
  refunds.reduce((sum, { amount_cents }) => sum + (amount_cents ?? 0), 0)

/** Of several disputes an open one counts, then a lost one. */
export function disputeStatusOf({ disputes }: Pick<Money, 'disputes'>): DisputeStatus | null {
  const statuses = disputes.map(({ status }) => status)
  return (['open', 'lost', 'won'] as const).find((status) => statuses.includes(status)) ?? null
}

/** What is left to refund of each charge: pending refunds reserve their amount. */
export function restOfCharges({
  charges,
  refunds,
}: Pick<Money, 'charges' | 'refunds'>): { provider_payment_id: string | null; rest: number }[] {
  const counted = refunds.filter(({ status }) => status !== 'failed')
  const isOfCharge = ({ provider_payment_id }: RefundState, id: string | null) => provider_payment_id === id
  const isOfNone = ({ provider_payment_id }: RefundState) =>
    !charges.some((charge) => charge.provider_payment_id === provider_payment_id)
  // A refund of an unknown charge counts for the first ones.
  let unassigned = sumOf(counted.filter(isOfNone))
  return charges.map(({ provider_payment_id, received_cents }) => {
    const own = received_cents - sumOf(counted.filter((refund) => isOfCharge(refund, provider_payment_id)))
    const taken = Math.min(Math.max(own, 0), unassigned)
    unassigned -= taken
    return { provider_payment_id, rest: Math.max(own - taken, 0) }
  })
}

type RefundEvent = Extract<PaymentEvent, { type: 'RefundRequested' | 'RefundRecorded' }>

/** The payment's refunds after an event about one of them. */
export function withRefund(refunds: readonly RefundState[], event: RefundEvent): readonly RefundState[] {
  const earlier = refunds.find(({ refund_id }) => refund_id === event.data.refund_id)
  const refund = event.type === 'RefundRequested' ? requested(event, earlier) : recorded(event, earlier)
  return earlier ? refunds.map((each) => (each === earlier ? refund : each)) : [...refunds, refund]
}

function requested(
  { data }: Extract<RefundEvent, { type: 'RefundRequested' }>,
  earlier: RefundState | undefined,
): RefundState {
  const { refund_id, refund_cents, reason, note, provider_payment_id, request_fingerprint } = data
  return {
    ...{ refund_id, status: 'pending', reason, note, provider_payment_id, request_fingerprint },
    ...inPaymentCurrency(refund_cents),
    provider_refund_id: null,
    failure_code: null,
    created_at: earlier?.created_at ?? data.occurred_at,
    updated_at: data.occurred_at,
    call: startedCall(data.occurred_at),
  }
}

function recorded(
  { data }: Extract<RefundEvent, { type: 'RefundRecorded' }>,
  earlier: RefundState | undefined,
): RefundState {
  const { refund_id, status, reason, note, provider_payment_id, provider_refund_id, failure_code, occurred_at } = data
  return {
    ...{ refund_id, status, reason, note, provider_payment_id, provider_refund_id, failure_code },
    ...amountIn(data, data.refund_cents),
    request_fingerprint: earlier?.request_fingerprint ?? null,
    created_at: earlier?.created_at ?? occurred_at,
    updated_at: occurred_at,
    call: doneCall(earlier?.call.started_at ?? occurred_at),
  }
}

type Recorded = Extract<PaymentEvent, { type: 'RefundRecorded' | 'PaymentDisputeRecorded' }>

/** What an event records of an amount. Events of 1.0.0 have amounts in the payment's currency only. */
export const amountIn = (
  { reported_amount_cents = null, reported_currency = null }: Recorded['data'],
  amount_cents: number | null,
): RecordedAmount => ({ amount_cents, reported_amount_cents, reported_currency })

/** Money was received. A charge that was reported before without its id, or with another amount, is replaced. */
export function withCharge(charges: readonly Charge[], charge: Charge): readonly Charge[] {
  const isSame = ({ provider_payment_id: id }: Charge) =>
    id === charge.provider_payment_id || id === null || charge.provider_payment_id === null
  const earlier = charges.find(isSame)
  if (!earlier) return [...charges, charge]
  const provider_payment_id = charge.provider_payment_id ?? earlier.provider_payment_id
  return charges.map((each) => (each === earlier ? { ...charge, provider_payment_id } : each))
}

/** The payment's refunds after a refund call failed. A rejected one frees its amount. */
export function withFailedRefund(refunds: readonly RefundState[], failure: CallFailed): readonly RefundState[] {
  const { refund_id, outcome, failure_code, occurred_at: updated_at } = failure
  return refunds.map((refund): RefundState => {
    if (refund.refund_id !== refund_id) return refund
    const failed = { ...refund, call: failedCall(refund.call, failure), updated_at }
    return outcome === 'rejected' ? { ...failed, status: 'failed', failure_code } : failed
  })
}

type DisputeEvent = Extract<PaymentEvent, { type: 'PaymentDisputeRecorded' }>

export function withDispute(disputes: readonly DisputeState[], { data }: DisputeEvent): readonly DisputeState[] {
  const { dispute_id, provider_dispute_id, disputed_cents, status, provider_status } = data
  const amount = amountIn(data, disputed_cents)
  const dispute = { dispute_id, provider_dispute_id, ...amount, status, provider_status }
  const isKnown = disputes.some((each) => each.dispute_id === dispute_id)
  return isKnown ? disputes.map((each) => (each.dispute_id === dispute_id ? dispute : each)) : [...disputes, dispute]
}
