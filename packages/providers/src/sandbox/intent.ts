// An intent of the sandbox: its state, what changes it, and its snapshot.
import { Nullable } from '@paylog/domain/fields'
import { RefundReason, RefundStatus } from '@paylog/domain/payments/events'
import { isAbsorbing, PaymentStatus } from '@paylog/domain/payments/payment'
import type { StatusReport } from '@paylog/domain/payments/statusReports'
import { type Static, Type } from 'typebox'
import { paymentIdFrom } from '../fields.ts'
import {
  type CreateIntent,
  type IntentSnapshot,
  ProviderError,
  type RefundCharge,
  type ReportedRefund,
} from '../provider.ts'
import { refundFailsCard } from './methods.ts'

const SandboxRefund = Type.Object({
  provider_refund_id: Type.String(),
  /** Our id; null for a refund that only a notification named. */
  refund_id: Nullable(Type.String()),
  amount_cents: Type.Integer(),
  /** Absent for the intent's. */
  currency: Type.Optional(Type.String()),
  status: RefundStatus,
  reason: Type.Optional(RefundReason),
  failure_code: Nullable(Type.String()),
})
type SandboxRefund = Static<typeof SandboxRefund>

export const SandboxIntent = Type.Object({
  provider_intent_id: Type.String(),
  payment_id: Type.String(),
  /** The test method. */
  token: Nullable(Type.String()),
  amount_cents: Type.Integer(),
  currency: Type.String(),
  status: PaymentStatus,
  /** The payer has approved, and we have to capture. */
  awaits_capture: Type.Boolean(),
  capturable_cents: Type.Integer(),
  received_cents: Type.Integer(),
  /** The time of the newest report; null before the first one. */
  reported_at: Nullable(Type.String()),
  refunds: Type.Array(SandboxRefund),
})
export type SandboxIntent = Static<typeof SandboxIntent>

export const failure = { failure_code: 'card_declined', failure_message: 'The sandbox declined the payment' }

/** The ids of intents and charges contain the payment's. */
export const paymentIdIn = (id: string | null) =>
  paymentIdFrom(/^sandbox_(?:pi|ch)_(.{36})(?:-\d+)?$/.exec(id ?? '')?.[1])

export const chargeOf = (intentId: string) => `sandbox_ch_${intentId.replace('sandbox_pi_', '')}`

export const clientSecretOf = (intentId: string, paymentId: string) => `${intentId}_secret_${paymentId.slice(-12)}`

type NewIntent = Pick<CreateIntent, 'payment_id' | 'amount_cents' | 'currency'> & {
  readonly provider_intent_id: string
  readonly token: string | null
}

export function newIntent(intent: NewIntent): SandboxIntent {
  const nothing = { awaits_capture: false, capturable_cents: 0, received_cents: 0, reported_at: null, refunds: [] }
  return { ...intent, status: 'pending', ...nothing }
}

/** Applies a report. Money that was received stays received, and a late report changes nothing. */
export function withReport(intent: SandboxIntent, report: StatusReport, isApproval: boolean): SandboxIntent {
  const { status, provider_time, amount_cents, capturable_cents = 0 } = report
  const isPaid = status === 'succeeded'
  const isLate = intent.reported_at !== null && provider_time < intent.reported_at
  if (!isPaid && (isAbsorbing(intent.status) || isLate)) return intent
  const received_cents = isPaid ? (amount_cents ?? intent.amount_cents) : intent.received_cents
  // What the sandbox received is in the currency of the report.
  const currency = (isPaid ? report.currency : null) ?? intent.currency
  const changed = { status, awaits_capture: isApproval, capturable_cents, received_cents, currency }
  return { ...intent, ...changed, reported_at: provider_time }
}

/** @returns the intent unchanged when it can no longer be canceled */
export function canceled(intent: SandboxIntent): SandboxIntent {
  const isOpen = intent.status !== 'processing' || intent.awaits_capture || intent.capturable_cents > 0
  if (isAbsorbing(intent.status) || !isOpen) return intent
  return { ...intent, status: 'canceled', awaits_capture: false, capturable_cents: 0 }
}

/** Takes the money that the payer has approved, or authorizes it. */
export function capturedApproval(intent: SandboxIntent, isManual: boolean): SandboxIntent {
  if (!intent.awaits_capture) return intent
  const approved = { ...intent, awaits_capture: false }
  return isManual
    ? { ...approved, capturable_cents: intent.amount_cents }
    : { ...approved, status: 'succeeded', received_cents: intent.amount_cents }
}

/** @throws ProviderError `rejected` */
export function capturedAuthorized(intent: SandboxIntent, amount_cents: number): SandboxIntent {
  if (intent.capturable_cents === 0) return intent
  if (amount_cents > intent.capturable_cents)
    throw new ProviderError('rejected', 'amount_too_large', 'The amount is larger than what is authorized')
  return { ...intent, status: 'succeeded', capturable_cents: 0, received_cents: amount_cents }
}

/** What may still be refunded: pending refunds reserve their amount. */
export function refundableOf({ received_cents, refunds, currency: own }: SandboxIntent): number {
  const counted = refunds.filter(({ status, currency = own }) => status !== 'failed' && currency === own)
  return counted.reduce((rest, { amount_cents }) => rest - amount_cents, received_cents)
}

/** What was given back. */
export function refundedOf({ refunds, currency: own }: SandboxIntent): number {
  const counted = refunds.filter(({ status, currency = own }) => status === 'succeeded' && currency === own)
  return counted.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
}

/**
 * Adds a refund, unless it was added before.
 * @param request `refund_id` identifies it
 * @throws ProviderError `rejected` when it is more than what is refundable
 */
export function withRefund(intent: SandboxIntent, request: RefundCharge, refundable_cents: number): SandboxIntent {
  const { refund_id, amount_cents, reason } = request
  if (intent.refunds.some((refund) => refund.refund_id === refund_id)) return intent
  if (amount_cents > refundable_cents)
    throw new ProviderError('rejected', 'refund_too_large', 'The refund is larger than what is left of the charge')
  const provider_refund_id = `sandbox_re_${refund_id}`
  const status = intent.token === refundFailsCard ? 'pending' : 'succeeded'
  const refund = { provider_refund_id, refund_id, amount_cents, status, reason, failure_code: null } as const
  return { ...intent, refunds: [...intent.refunds, refund] }
}

/** Applies a report about a refund, also about one that the sandbox did not know. A failure is final. */
export function withReportedRefund(intent: SandboxIntent, report: ReportedRefund): SandboxIntent {
  const { provider_refund_id, refund_id, status, failure_code = null } = report
  if (provider_refund_id === null) return intent
  const known = intent.refunds.find((refund) => refund.provider_refund_id === provider_refund_id)
  if (known && (known.status === 'failed' || status === 'pending')) return intent
  const amount_cents = report.amount_cents ?? known?.amount_cents ?? 0
  const currency = (report.amount_cents === null ? known?.currency : report.currency) ?? intent.currency
  const refund: SandboxRefund = {
    refund_id,
    ...known,
    provider_refund_id,
    amount_cents,
    currency,
    status,
    failure_code,
  }
  return { ...intent, refunds: [...intent.refunds.filter((other) => other !== known), refund] }
}

/** @param now the sandbox's clock */
export function snapshotOf(intent: SandboxIntent, now: Date): IntentSnapshot {
  const { provider_intent_id, status, currency, capturable_cents, awaits_capture, refunds } = intent
  const isPaid = status === 'succeeded'
  return {
    report: {
      status,
      provider_time: now.toISOString(),
      provider_event_id: null,
      provider_intent_id,
      provider_payment_id: isPaid ? chargeOf(provider_intent_id) : null,
      amount_cents: isPaid ? intent.received_cents : intent.amount_cents,
      currency,
      ...(capturable_cents > 0 && { capturable_cents }),
      ...(status === 'failed' && failure),
    },
    further_charges: [],
    awaits_capture,
    refunds: refunds.map((refund) => reportedRefund(intent, refund, now)),
  }
}

/** @throws Error when the intent has no such refund */
export function refundIn(intent: SandboxIntent, refund_id: string, now: Date): ReportedRefund {
  const refund = intent.refunds.find((each) => each.refund_id === refund_id)
  if (!refund) throw new Error('the refund is not remembered')
  return reportedRefund(intent, refund, now)
}

function reportedRefund(intent: SandboxIntent, refund: SandboxRefund, now: Date): ReportedRefund {
  const { provider_intent_id } = intent
  const { refund_id, provider_refund_id, amount_cents, status, reason, failure_code } = refund
  return {
    provider_time: now.toISOString(),
    provider_event_id: null,
    provider_intent_id,
    provider_payment_id: chargeOf(provider_intent_id),
    refund_id,
    provider_refund_id,
    amount_cents,
    currency: refund.currency ?? intent.currency,
    status,
    ...(reason && { reason }),
    ...(failure_code !== null && { failure_code }),
  }
}
