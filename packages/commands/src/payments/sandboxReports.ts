// Acts as the sandbox's payer and provider: reports what happened to a payment with signed notifications to its receiver.
import { receivedOf } from '@paylog/domain/payments/charges'
import { paymentFold } from '@paylog/domain/payments/fold'
import { isAbsorbing, type Payment } from '@paylog/domain/payments/payment'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import type { SandboxMemory } from '@paylog/providers/sandbox/memory'
import { actionRequiredCard, approvalCard, disputeCard } from '@paylog/providers/sandbox/methods'
import { readNotification, remember } from '@paylog/providers/sandbox/notifications'
import {
  approvalEvent,
  type DisputeReport,
  disputeEvent,
  moneyObject,
  nextReportSeconds,
  notificationOf,
  outcomeEvent,
  type PayerOutcome,
  postNotification,
  type SandboxEvent,
} from '@paylog/providers/sandbox/reports'

export const refundEnds = ['succeeded', 'failed'] as const
export type RefundEnd = (typeof refundEnds)[number]

/** The sandbox cannot report this about the payment. The message gives the reason. */
export class SandboxReportError extends Error {
  override readonly name = 'SandboxReportError'
}

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
  return await report(options, payment, approvalEvent(intentOf(payment)))
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
    ...moneyObject({ ...intentOf(payment), currency }, amount_cents ?? reported_amount_cents ?? 0),
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
  const settled = await report(options, payment, outcomeEvent(intentOf(payment), outcome))
  const isDisputed = outcome === 'succeeded' && payment.payment_method_id === disputeCard && !options.silentlyIn
  if (!isDisputed) return settled
  return { ...(await dispute(options, settled.payment, 'open')), event_id: settled.event_id }
}

const dispute = (options: SandboxReport, payment: Payment, outcome: DisputeReport) =>
  report(options, payment, disputeEvent(intentOf(payment), receivedOf(payment), outcome))

/** The payment's intent at the sandbox, which was checked to be there. */
const intentOf = ({ payment_id, provider_intent_id, total_cents: amount_cents, currency }: Payment) => ({
  payment_id,
  provider_intent_id: provider_intent_id ?? '',
  amount_cents,
  currency,
})

async function report(options: SandboxReport, payment: Payment, event: SandboxEvent): Promise<ReportedPayment> {
  const { event_id, body } = notificationOf(event, nextReportSeconds(payment.report_time))
  if (options.silentlyIn) await remember(options.silentlyIn, readNotification(Buffer.from(body)))
  else
    await postNotification(`${options.baseUrl}/webhooks/sandbox`, options.secret, body).catch((cause: unknown) => {
      throw new SandboxReportError(cause instanceof Error ? cause.message : String(cause), { cause })
    })
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
