// The sandbox's notifications: their signature, generic events, and those about refunds and disputes.
import { DomainError } from '@paylog/domain/errors'
import { Id, Nullable } from '@paylog/domain/fields'
import { RefundReason, RefundStatus } from '@paylog/domain/payments/events'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Amount, Code, maybe, notificationJson } from '../fields.ts'
import { readGenericEvent } from '../genericEvent.ts'
import { unixTimeAt } from '../lenient.ts'
import type { ProviderNotification, ProviderReport } from '../provider.ts'
import { signWithTime } from '../timedSignature.ts'
import { chargeOf, failure, newIntent, paymentIdIn, withReport, withReportedRefund } from './intent.ts'
import type { SandboxMemory } from './memory.ts'

export const signatureHeader = 'sandbox-signature'

/** The value of the header for a body, signed at a Unix time in seconds. */
export const signSandboxEvent = signWithTime

/** The status of an object that the payer has approved, and that we have to capture. */
export const approved = 'approved'

const Authorized = Type.Object({ data: Type.Object({ object: Type.Object({ amount_capturable: Amount }) }) })
const authorized = Compile(Authorized)

const RefundEvent = Type.Object({
  type: Type.Literal('refund.updated'),
  data: Type.Object({
    object: Type.Object({
      payment_intent: Code,
      amount: Amount,
      status: RefundStatus,
      reason: maybe(RefundReason),
      failure_code: maybe(Code),
      metadata: Type.Optional(Type.Object({ refund_id: Type.Optional(Nullable(Id)) })),
    }),
  }),
})
const refundEvent = Compile(RefundEvent)

const disputeStatuses = { needs_response: 'open', won: 'won', lost: 'lost' } as const

const DisputeEvent = Type.Object({
  type: Type.Enum(['dispute.created', 'dispute.closed']),
  data: Type.Object({
    object: Type.Object({
      payment_intent: Code,
      amount: Amount,
      status: Type.Enum(['needs_response', 'won', 'lost']),
      reason: maybe(Code),
      evidence_due_by: maybe(Type.Integer()),
    }),
  }),
})
const disputeEvent = Compile(DisputeEvent)

const laterTypes: ReadonlySet<string> = new Set(['refund.updated', 'dispute.created', 'dispute.closed'])

/**
 * Reads a notification of the sandbox.
 * @throws DomainError `invalid_request`
 */
export function readNotification(body: Buffer): ProviderNotification {
  const { json } = notificationJson(body)
  const notification = readGenericEvent(json, { chargeOf, failure })
  const report = reportOf(json, notification)
  const named = paymentIdIn(report?.provider_intent_id ?? notification.object_id)
  return { ...notification, report, referenced_payment_id: named ?? notification.referenced_payment_id }
}

function reportOf(json: unknown, notification: ProviderNotification): ProviderReport | null {
  const { provider_type, report, status } = notification
  if (report?.about === 'status' && report.status === 'processing') {
    if (authorized.Check(json)) return { ...report, capturable_cents: json.data.object.amount_capturable }
    if (status === approved) return { ...report, awaits_capture: true }
  }
  if (laterTypes.has(provider_type)) return laterReport(json, notification)
  return report
}

/** A report about money that was received before. */
function laterReport(json: unknown, notification: ProviderNotification): ProviderReport {
  const { provider_event_id, object_id, currency, occurred_at: provider_time } = notification
  const sourceOf = (provider_intent_id: string) => {
    const ids = { provider_intent_id, provider_payment_id: chargeOf(provider_intent_id) }
    return { provider_time, provider_event_id, ...ids }
  }
  if (refundEvent.Check(json)) {
    const { payment_intent, amount, status, reason, failure_code, metadata } = json.data.object
    return {
      about: 'refund',
      ...sourceOf(payment_intent),
      refund_id: metadata?.refund_id ?? null,
      provider_refund_id: object_id,
      amount_cents: amount,
      currency,
      status,
      ...(reason && { reason }),
      ...(failure_code && { failure_code }),
    }
  }
  if (!disputeEvent.Check(json))
    throw new DomainError('invalid_request', 'The event about a refund or dispute is not valid')
  const { payment_intent, amount, status, reason = null, evidence_due_by } = json.data.object
  return {
    about: 'dispute',
    ...sourceOf(payment_intent),
    provider_dispute_id: object_id,
    status: disputeStatuses[status],
    provider_status: status,
    reason,
    evidence_due_by: unixTimeAt(evidence_due_by),
    amount_cents: amount,
    currency,
  }
}

/**
 * Remembers what a notification reports. Only the sandbox can sign one, so what it reports has happened there.
 * @throws ProviderError `unknown`
 */
export async function remember(memory: SandboxMemory, { report, status }: ProviderNotification): Promise<void> {
  const id = report?.provider_intent_id ?? null
  const payment_id = paymentIdIn(id)
  if (!report || id === null || payment_id === null) return
  if (report.about === 'refund') await memory.update(id, (intent) => withReportedRefund(intent, report))
  if (report.about !== 'status') return
  const apply = () => memory.update(id, (intent) => withReport(intent, report, status === approved))
  if (await apply()) return
  const money = { amount_cents: report.amount_cents ?? 0, currency: report.currency ?? '' }
  await memory.add(newIntent({ provider_intent_id: id, payment_id, token: null, ...money }))
  await apply()
}
