// Payment state.
import { type Static, Type } from 'typebox'
import { DomainError } from '../errors.ts'
import type { Attention } from './attention.ts'
import type { Chain } from './duplicates.ts'
import { type IntentRejection, type PaymentInitiated, paymentStatuses } from './events.ts'
import type { Money } from './money.ts'

export const PaymentStatus = Type.Enum(paymentStatuses, { title: 'PaymentStatus' })
export type PaymentStatus = Static<typeof PaymentStatus>

/** Whether a status is final. `failed` is not: a declined attempt may be followed by a successful one. */
export function isAbsorbing(status: PaymentStatus): boolean {
  return status === 'succeeded' || status === 'canceled'
}

export type NoPayment = { readonly status: 'none' }

/** The fields of PaymentInitiated that the state keeps unchanged. */
type InitialFields = Omit<PaymentInitiated['data'], 'occurred_at' | 'amount_cents' | 'guest_name' | 'guest_phone'>

export type Payment = InitialFields &
  Money & {
    readonly status: PaymentStatus
    readonly redirect_url: string | null
    /** Authorized, and not captured. */
    readonly capturable_cents: number
    /** The cancel or capture call that has begun and not ended. */
    readonly requested: RequestedCall | null
    readonly calls_requested: number
    /** Whether the provider has reported that more or less is refunded than is recorded, without the refunds. */
    readonly has_unread_refunds: boolean
    readonly attention: readonly Attention[]
    readonly provider_intent_id: string | null
    readonly provider_payment_id: string | null
    readonly client_secret: string | null
    readonly created_at: string
    readonly updated_at: string
    readonly completed_at: string | null
    /** The number of the latest intent attempt; part of the provider's idempotency key. */
    readonly attempt: number
    /** When the latest intent attempt began. Some time after this the provider forgets the idempotency key. */
    readonly attempt_started_at: string
    readonly intent_outcome: IntentOutcome
    /** Whether the outcome of a create call was ever unknown, so that its caller got no intent. */
    readonly was_unknown: boolean
    /** The provider time of the newest report that was applied. */
    readonly evidence_time: string | null
    /** The notifications received so far, so that a repeated one changes nothing. */
    readonly seen_provider_events: Chain<string>
    /** Content keys of the recorded non-status events, so that another snapshot does not record them again. */
    readonly recorded_content: Chain<string>
    /** How many failed payment attempts the provider reported. A capture after each of them is a new one. */
    readonly failures: number
    /** The charges of these attempts, where known, so that a failure reported twice counts once. */
    readonly failed_charges: readonly string[]
    /** The intent of the first notification of this attempt; counts until the payment's own intent is recorded. */
    readonly reported_intent_id: string | null
    /** How many notifications reported an approval by the payer, in or out of order. */
    readonly approvals_reported: number
  }

export type RequestedCall = {
  readonly call: 'cancel' | 'capture'
  /** As far as known. */
  readonly outcome: 'open' | 'throttled' | 'unknown'
  readonly requested_at: string
  /** Of a cancellation. */
  readonly reason: string | null
  /** Of a capture. */
  readonly capture_cents: number | null
  /** Counts the cancel and capture calls of the payment; part of the idempotency key. */
  readonly number: number
}

/** The outcome of the call that creates the intent, as far as known. */
export type IntentOutcome =
  | { readonly kind: 'open' | 'throttled' | 'unknown' | 'created' }
  | { readonly kind: 'rejected'; readonly refusal: IntentRejection; readonly message: string }

export type PaymentState = NoPayment | Payment

export const noPayment: NoPayment = Object.freeze({ status: 'none' })

/** Without what lets its holder pay, which nobody needs before there is an intent and after the payment has ended. */
export const noSecrets = { client_secret: null, redirect_url: null } as const

/** @throws DomainError `not_found` */
export function existingPayment(state: PaymentState): Payment {
  if (state.status === 'none') throw new DomainError('not_found', 'No payment with this id')
  return state
}

/** A provider call that has begun and has not ended. The reconciler finishes it. */
export type OpenCall = {
  /** When somebody began to make it; null when nobody does any more. */
  readonly begun_at: string | null
  /** Whether it may have had an effect at the provider. */
  readonly mayHaveEffect: boolean
}

/** The call that creates the payment's intent, unless it has ended. A canceled payment needs no intent. */
export function openCallOf({ intent_outcome: { kind }, attempt_started_at, status }: Payment): OpenCall | null {
  if (kind === 'created' || kind === 'rejected' || (kind === 'throttled' && status === 'canceled')) return null
  return openCall(kind, attempt_started_at)
}

/** All calls of a payment that have begun and not ended. */
export function openCallsOf(payment: Payment): readonly OpenCall[] {
  const { requested, refunds } = payment
  const create = openCallOf(payment)
  return [
    ...(create ? [create] : []),
    ...(requested ? [openCall(requested.outcome, requested.requested_at)] : []),
    ...refunds.flatMap(({ call, called_at }) => (call === 'ended' ? [] : [openCall(call, called_at)])),
  ]
}

export function openCall(outcome: 'open' | 'throttled' | 'unknown', at: string): OpenCall {
  return { begun_at: outcome === 'open' ? at : null, mayHaveEffect: outcome !== 'throttled' }
}

/** The fields of every event of this payment. */
export function factsOf(payment: Payment, occurred_at: string) {
  const { payment_id, provider_id, total_cents: amount_cents, currency, payer, project_id } = payment
  return { payment_id, occurred_at, provider_id, amount_cents, currency, payer, project_id }
}
