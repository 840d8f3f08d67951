// Payment state.
import { type Static, Type } from 'typebox'
import { DomainError } from '../errors.ts'
import type { Attention } from './attention.ts'
import type { Money } from './charges.ts'
import type { ClientTexts } from './clientTexts.ts'
import type { Chain } from './duplicates.ts'
import { type PaymentInitiated, paymentStatuses } from './events.ts'
import { hasEnded, type ProviderCall } from './providerCall.ts'

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
  ClientTexts &
  Money & {
    readonly status: PaymentStatus
    readonly redirect_url: string | null
    /** Authorized, and not captured. */
    readonly capturable_cents: number
    /** Whether the payer has approved, and we have to take the money. */
    readonly awaits_capture: boolean
    /** The latest call that creates the intent. */
    readonly create: CreateCall
    /** Whether the outcome of a create call was ever unknown, so that its caller got no intent. */
    readonly was_unknown: boolean
    /** The latest cancel or capture call; null before the first, and when the payment has ended. */
    readonly requested: RequestedCall | null
    /** Whether the provider has reported that more or less is refunded than is recorded, without the refunds. */
    readonly has_unread_refunds: boolean
    readonly attention: readonly Attention[]
    readonly provider_intent_id: string | null
    readonly provider_payment_id: string | null
    readonly client_secret: string | null
    readonly created_at: string
    readonly updated_at: string
    readonly completed_at: string | null
    /** The provider time of the newest report that was applied. */
    readonly report_time: string | null
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

export type CreateCall = ProviderCall & {
  /** The number of the intent attempt; part of the idempotency key, which the provider forgets some time after it started. */
  readonly attempt: number
}

export type RequestedCall = ProviderCall & {
  readonly call: 'cancel' | 'capture'
  /** Of a cancellation. */
  readonly reason: string | null
  /** Of a capture. */
  readonly capture_cents: number | null
  /** Counts the cancel and capture calls of the payment; part of the idempotency key. */
  readonly number: number
}

export type PaymentState = NoPayment | Payment

export const noPayment: NoPayment = Object.freeze({ status: 'none' })

/** Without what lets its holder pay, which nobody needs before there is an intent and after the payment has ended. */
export const noSecrets = { client_secret: null, redirect_url: null } as const

/** @throws DomainError `not_found` */
export function existingPayment(state: PaymentState): Payment {
  if (state.status === 'none') throw new DomainError('not_found', 'No payment with this id')
  return state
}

/** The call that creates the payment's intent, unless it has ended. A canceled payment needs no intent. */
export function openCreateOf({ create, status }: Payment): CreateCall | null {
  return hasEnded(create) || (create.outcome === 'throttled' && status === 'canceled') ? null : create
}

/** The cancel or capture call that has not ended. */
export function openRequestOf({ requested }: Payment): RequestedCall | null {
  return requested && !hasEnded(requested) ? requested : null
}

/** All calls of a payment that have started and not ended. */
export function openCallsOf(payment: Payment): readonly ProviderCall[] {
  const calls = [openCreateOf(payment), openRequestOf(payment), ...payment.refunds.map(({ call }) => call)]
  return calls.filter((call) => call !== null).filter((call) => !hasEnded(call))
}

/** The fields of every event of this payment. */
export function factsOf(payment: Payment, occurred_at: string) {
  const { payment_id, provider_id, total_cents: amount_cents, currency, payer, project_id } = payment
  return { payment_id, occurred_at, provider_id, amount_cents, currency, payer, project_id }
}
