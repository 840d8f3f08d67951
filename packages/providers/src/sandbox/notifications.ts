// The sandbox's notifications: their signature, generic events, and those about refunds and disputes.
import { type DisputeStatus, RefundReason, RefundStatus } from '@paylog/domain/payments/events'
import { Compile } from 'typebox/compile'
import { notificationJson, paymentIdFrom } from '../fields.ts'
import { readGenericEvent } from '../genericEvent.ts'
import { codeAt, unitsAt, unixTimeAt, valueAt } from '../lenient.ts'
import type { ProviderNotification, ProviderReport } from '../provider.ts'
import { signWithTime } from '../timedSignature.ts'
import { chargeOf, failure, newIntent, paymentIdIn, withReport, withReportedRefund } from './intent.ts'
import type { SandboxMemory } from './memory.ts'

export const signatureHeader = 'sandbox-signature'

/** The value of the header for a body, signed at a Unix time in seconds. */
export const signSandboxEvent = signWithTime

/** The status of an object that the payer has approved, and that we have to capture. */
export const approved = 'approved'

const refundStatus = Compile(RefundStatus)
const refundReason = Compile(RefundReason)

const disputeStatuses: ReadonlyMap<string | null, DisputeStatus> = new Map([
  ['needs_response', 'open'],
  ['won', 'won'],
  ['lost', 'lost'],
])

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
  const object = valueAt(json, 'data', 'object')
  if (report?.about === 'status' && report.status === 'processing') {
    const capturable_cents = unitsAt(object, 'amount_capturable')
    if (capturable_cents !== null) return { ...report, capturable_cents }
    if (status === approved) return { ...report, awaits_capture: true }
  }
  return laterTypes.has(provider_type) ? laterReport(object, notification) : report
}

/** A report about money that was received before; `null` when the object does not show which money, or what became of it. */
function laterReport(object: unknown, notification: ProviderNotification): ProviderReport | null {
  const { provider_event_id, provider_type, object_id, currency, occurred_at: provider_time } = notification
  const provider_intent_id = codeAt(object, 'payment_intent')
  const amount_cents = unitsAt(object, 'amount')
  const status = codeAt(object, 'status')
  if (provider_intent_id === null || amount_cents === null || status === null) return null
  const provider_payment_id = chargeOf(provider_intent_id)
  const source = { provider_time, provider_event_id, provider_intent_id, provider_payment_id }
  const reason = codeAt(object, 'reason')
  if (provider_type !== 'refund.updated') {
    const ended = disputeStatuses.get(status)
    if (ended === undefined) return null
    return {
      about: 'dispute',
      ...source,
      provider_dispute_id: object_id,
      status: ended,
      provider_status: status,
      reason,
      evidence_due_by: unixTimeAt(object, 'evidence_due_by'),
      amount_cents,
      currency,
    }
  }
  const failure_code = codeAt(object, 'failure_code')
  if (!refundStatus.Check(status)) return null
  return {
    about: 'refund',
    ...source,
    refund_id: paymentIdFrom(valueAt(object, 'metadata', 'refund_id')),
    provider_refund_id: object_id,
    amount_cents,
    currency,
    status,
    ...(refundReason.Check(reason) && { reason }),
    ...(failure_code !== null && { failure_code }),
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
