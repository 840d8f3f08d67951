// Acts as the sandbox's payer and provider: reports what happened to a payment with signed notifications to its receiver.
import { randomUUID } from 'node:crypto'
import { receivedOf } from '@paylog/domain/payments/charges'
import { paymentFold } from '@paylog/domain/payments/fold'
import { isAbsorbing, type Payment } from '@paylog/domain/payments/payment'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import type { SandboxMemory } from '@paylog/providers/sandbox/memory'
import { actionRequiredCard, approvalCard, disputeCard } from '@paylog/providers/sandbox/methods'
import { approved, readNotification, remember, signSandboxEvent } from '@paylog/providers/sandbox/notifications'
import { request } from 'undici'

export const payerOutcomes = ['succeeded', 'failed', 'canceled', 'processing', 'authorized'] as const
export type PayerOutcome = (typeof payerOutcomes)[number]

export const refundEnds = ['succeeded', 'failed'] as const
export type RefundEnd = (typeof refundEnds)[number]

export const disputeReports = ['open', 'won', 'lost'] as const
export type DisputeReport = (typeof disputeReports)[number]

/** The sandbox cannot report this about the payment. The message gives the reason. */
export class SandboxReportError extends Error {
  override readonly name = 'SandboxReportError'
}

const receiverTimeoutMs = 15_000
const evidenceDueSeconds = 7 * 24 * 3600

export type ReportedPayment = {
  /** Id of the notification. */
  readonly event_id: string
  readonly payment: Payment
}

export type SandboxReport = {
  readonly store: EventStore
  readonly baseUrl: string
  readonly secret: string
  readonly paymentId: string
  /** Only the sandbox's memory learns of it, as if the notification were lost. */
  readonly silentlyIn?: SandboxMemory | undefined
}

/**
 * Reports an outcome to `<baseUrl>/webhooks/sandbox`, signed with the receiver's secret.
 * @returns the payment afterwards; its status may differ from the outcome, because not every transition is allowed
 * @throws SandboxReportError when the payment is unknown or not a sandbox payment, or the receiver rejects the notification
 */
export async function settlePayment(
  options: SandboxReport & { readonly outcome: PayerOutcome },
): Promise<ReportedPayment> {
  const payment = await loadPayment(options)
  if (options.outcome === 'authorized' && payment.capture_method !== 'manual')
    throw new SandboxReportError(
      `Payment ${payment.payment_id} is captured automatically; create it with manual capture.`,
    )
  return await settle(options, payment, options.outcome)
}

/**
 * The payer does what the payment's test method asks for: acts, or approves so that we capture.
 * @throws SandboxReportError as above, and when the test method asks for nothing
 */
export async function approvePayment(options: SandboxReport): Promise<ReportedPayment> {
  const payment = await loadPayment(options)
  const { payment_id, payment_method_id, status, capture_method } = payment
  if (isAbsorbing(status)) throw new SandboxReportError(`Payment ${payment_id} is ${status} already.`)
  if (payment_method_id === actionRequiredCard)
    return await settle(options, payment, capture_method === 'manual' ? 'authorized' : 'succeeded')
  if (payment_method_id !== approvalCard)
    throw new SandboxReportError(`Only payments with ${actionRequiredCard} or ${approvalCard} wait for their payer.`)
  return await report(options, payment, { type: 'payment_intent.processing', object: intentOf(payment, approved) })
}

/**
 * Reports how the payment's newest refund ended that can still end like this.
 * @throws SandboxReportError as above, and when there is no such refund
 */
export async function endRefund(options: SandboxReport & { readonly outcome: RefundEnd }): Promise<ReportedPayment> {
  const { outcome } = options
  const payment = await loadPayment(options)
  const refund = payment.refunds.findLast(
    ({ status, provider_refund_id }) =>
      provider_refund_id !== null && (status === 'pending' || (status === 'succeeded' && outcome === 'failed')),
  )
  if (!refund) throw new SandboxReportError(`Payment ${payment.payment_id} has no refund that could have ${outcome}.`)
  const { refund_id, provider_refund_id, amount_cents, reported_amount_cents, reported_currency, reason } = refund
  const currency = reported_currency ?? payment.currency
  const object = {
    id: provider_refund_id,
    ...moneyOf({ ...payment, currency }, amount_cents ?? reported_amount_cents ?? 0),
    status: outcome,
    reason,
    failure_code: outcome === 'failed' ? 'account_closed' : null,
    metadata: { payment_id: payment.payment_id, refund_id },
  }
  return await report(options, payment, { type: 'refund.updated', object })
}

/**
 * Reports a dispute of the payment, or how it ended.
 * @throws SandboxReportError as above, and when the payment has received nothing
 */
export async function disputePayment(
  options: SandboxReport & { readonly outcome: DisputeReport },
): Promise<ReportedPayment> {
  const payment = await loadPayment(options)
  if (options.silentlyIn) throw new SandboxReportError('The memory of the sandbox keeps no disputes.')
  if (payment.charges.length === 0)
    throw new SandboxReportError(`Payment ${payment.payment_id} has received no money that could be disputed.`)
  return await dispute(options, payment, options.outcome)
}

async function settle(options: SandboxReport, payment: Payment, outcome: PayerOutcome): Promise<ReportedPayment> {
  const isAuthorized = outcome === 'authorized'
  const object = {
    ...intentOf(payment, isAuthorized ? 'requires_capture' : outcome),
    ...(isAuthorized && { amount_capturable: payment.total_cents }),
  }
  const settled = await report(options, payment, {
    type: `payment_intent.${isAuthorized ? 'processing' : outcome}`,
    object,
  })
  const isDisputed = outcome === 'succeeded' && payment.payment_method_id === disputeCard && !options.silentlyIn
  if (!isDisputed) return settled
  return { ...(await dispute(options, settled.payment, 'open')), event_id: settled.event_id }
}

function dispute(options: SandboxReport, payment: Payment, outcome: DisputeReport): Promise<ReportedPayment> {
  const isOpen = outcome === 'open'
  const object = {
    id: `sandbox_dp_${payment.payment_id}`,
    ...moneyOf(payment, receivedOf(payment)),
    status: isOpen ? 'needs_response' : outcome,
    reason: 'fraudulent',
    evidence_due_by: isOpen ? nowSeconds() + evidenceDueSeconds : null,
  }
  return report(options, payment, { type: isOpen ? 'dispute.created' : 'dispute.closed', object })
}

const intentOf = (payment: Payment, status: string) => ({
  id: payment.provider_intent_id,
  amount: payment.total_cents,
  currency: payment.currency.toLowerCase(),
  status,
  customer: null,
  metadata: { payment_id: payment.payment_id },
})

const moneyOf = ({ provider_intent_id, currency }: Payment, amount: number) => ({
  payment_intent: provider_intent_id,
  amount,
  currency: currency.toLowerCase(),
})

const nowSeconds = () => Math.floor(Date.now() / 1000)

async function report(
  options: SandboxReport,
  { report_time }: Payment,
  event: { readonly type: string; readonly object: object },
): Promise<ReportedPayment> {
  // Of two reports within a second the order would be unknown.
  const created = Math.max(nowSeconds(), Math.floor(Date.parse(report_time ?? '1970-01-01') / 1000) + 1)
  const event_id = `sandbox_evt_${randomUUID()}`
  const body = JSON.stringify({
    id: event_id,
    type: event.type,
    provider: 'sandbox',
    created,
    data: { object: event.object },
  })
  if (options.silentlyIn) await remember(options.silentlyIn, readNotification(Buffer.from(body)))
  else await post(`${options.baseUrl}/webhooks/sandbox`, body, signSandboxEvent(options.secret, body, nowSeconds()))
  return { event_id, payment: await loadPayment(options) }
}

async function loadPayment({ store, paymentId }: SandboxReport): Promise<Payment> {
  const { state } = await store.load(paymentStream(paymentId), paymentFold)
  if (state.status === 'none') throw new SandboxReportError(`There is no payment ${paymentId}.`)
  if (state.provider_id !== 'sandbox') {
    throw new SandboxReportError(
      `Payment ${paymentId} belongs to ${state.provider_id}; only sandbox payments can be settled by hand.`,
    )
  }
  if (state.provider_intent_id === null)
    throw new SandboxReportError(`Payment ${paymentId} has no intent at the provider.`)
  return state
}

async function post(url: string, body: string, signature: string): Promise<void> {
  const response = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sandbox-signature': signature },
    body,
    signal: AbortSignal.timeout(receiverTimeoutMs),
  }).catch((cause: unknown) => {
    throw new SandboxReportError(`${url} did not respond${cause instanceof Error ? `: ${cause.message}` : ''}`, {
      cause,
    })
  })
  const text = await response.body.text()
  if (response.statusCode !== 200) throw new SandboxReportError(`${url} returned ${response.statusCode}: ${text}`)
}
