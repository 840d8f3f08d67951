// What the sandbox reports of an intent: the objects and bodies of its notifications.
import { randomUUID } from 'node:crypto'
import { request } from 'undici'
import type { SandboxIntent } from './intent.ts'
import { approved, signatureHeader, signSandboxEvent } from './notifications.ts'

export const payerOutcomes = ['succeeded', 'failed', 'canceled', 'processing', 'authorized'] as const
export type PayerOutcome = (typeof payerOutcomes)[number]

export const disputeReports = ['open', 'won', 'lost'] as const
export type DisputeReport = (typeof disputeReports)[number]

const receiverTimeoutMs = 15_000
const evidenceDueSeconds = 7 * 24 * 3600

type ReportedIntent = Pick<SandboxIntent, 'provider_intent_id' | 'payment_id' | 'amount_cents' | 'currency'>

export type SandboxEvent = { readonly type: string; readonly object: object }

/** How the payment ended, or stands. */
export function outcomeEvent(intent: ReportedIntent, outcome: PayerOutcome): SandboxEvent {
  const isAuthorized = outcome === 'authorized'
  const object = {
    ...intentObject(intent, isAuthorized ? 'requires_capture' : outcome),
    ...(isAuthorized && { amount_capturable: intent.amount_cents }),
  }
  return { type: `payment_intent.${isAuthorized ? 'processing' : outcome}`, object }
}

/** The payer has approved, and we have to capture. */
export const approvalEvent = (intent: ReportedIntent): SandboxEvent => ({
  type: 'payment_intent.processing',
  object: intentObject(intent, approved),
})

/** @param received_cents what the payer has paid */
export function disputeEvent(intent: ReportedIntent, received_cents: number, status: DisputeReport): SandboxEvent {
  const isOpen = status === 'open'
  const object = {
    id: `sandbox_dp_${intent.payment_id}`,
    ...moneyObject(intent, received_cents),
    status: isOpen ? 'needs_response' : status,
    reason: 'fraudulent',
    evidence_due_by: isOpen ? nowSeconds() + evidenceDueSeconds : null,
  }
  return { type: isOpen ? 'dispute.created' : 'dispute.closed', object }
}

const intentObject = ({ provider_intent_id, payment_id, amount_cents, currency }: ReportedIntent, status: string) => ({
  id: provider_intent_id,
  amount: amount_cents,
  currency: currency.toLowerCase(),
  status,
  customer: null,
  metadata: { payment_id },
})

/** Money of an intent that was received before. */
export const moneyObject = (
  { provider_intent_id, currency }: Pick<ReportedIntent, 'provider_intent_id' | 'currency'>,
  amount: number,
) => ({ payment_intent: provider_intent_id, amount, currency: currency.toLowerCase() })

const nowSeconds = () => Math.floor(Date.now() / 1000)

/**
 * The Unix time of the next report, in seconds: of two reports within a second the order would be unknown.
 * @param latest the time of the newest report, ISO 8601
 */
export const nextReportSeconds = (latest: string | null) =>
  Math.max(nowSeconds(), Math.floor(Date.parse(latest ?? '1970-01-01') / 1000) + 1)

/** @param created Unix time in seconds */
export function notificationOf({ type, object }: SandboxEvent, created: number) {
  const event_id = `sandbox_evt_${randomUUID()}`
  return { event_id, body: JSON.stringify({ id: event_id, type, provider: 'sandbox', created, data: { object } }) }
}

/**
 * Posts a signed notification to its receiver.
 * @throws Error with the reason when it is not accepted
 */
export async function postNotification(receiver: string, secret: string, body: string): Promise<void> {
  const response = await request(receiver, {
    method: 'POST',
    headers: { 'content-type': 'application/json', [signatureHeader]: signSandboxEvent(secret, body, nowSeconds()) },
    body,
    signal: AbortSignal.timeout(receiverTimeoutMs),
  }).catch((cause: unknown) => {
    throw new Error(`${receiver} did not respond${cause instanceof Error ? `: ${cause.message}` : ''}`, { cause })
  })
  const text = await response.body.text()
  if (response.statusCode !== 200) throw new Error(`${receiver} returned ${response.statusCode}: ${text}`)
}
