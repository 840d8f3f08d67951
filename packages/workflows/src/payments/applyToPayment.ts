// Applies a notification's report to its payment.
import type { EventMetadata } from '@paylog/domain/events'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { isForeignIntent, recordDispute, recordEvidence, recordRefund } from '@paylog/domain/payments/evidence'
import { type Payment, type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import { intentOwnerFold } from '@paylog/domain/providerEvents'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { paymentStream, providerIntentStream } from '@paylog/event-store/streamName'
import type { Provider, ProviderNotification, ProviderReport } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { recordIntentOwner } from './providerCall.ts'

export type AppliedPayment = {
  readonly payment: Payment
  /** The notification names this payment but a different intent, so its report was ignored. */
  readonly isForeignIntent: boolean
}

/**
 * Finds the notification's payment and records the report in it.
 * @returns the updated payment; undefined if the notification matches no payment
 * @throws DomainError `event_store_unavailable`
 */
export async function applyToPayment(
  workflow: Workflow,
  provider: Provider,
  notification: ProviderNotification,
  metadata: EventMetadata,
): Promise<AppliedPayment | undefined> {
  const { referenced_payment_id } = notification
  if (!notification.report) return undefined
  const owner = await ownerOf(workflow, provider, notification.report)
  const paymentId = owner ?? referenced_payment_id
  if (!paymentId) return undefined
  const stream = paymentStream(paymentId)
  const known: LoadedState<PaymentState> = await workflow.store.load(stream, paymentFold)
  if (known.state.status === 'none' || known.state.provider_id !== provider.id) return undefined
  const occurred_at = workflow.now().toISOString()
  const report = { ...notification.report, occurred_at, is_own_intent: owner !== null }
  // Later refunds and disputes may name only the charge.
  const charge = newChargeId(report, known.state)
  if (charge !== null) await recordIntentOwner(workflow, known.state, charge, metadata)
  const { state } = await workflow.store.handle({
    stream,
    fold: paymentFold,
    decide: (payment) => decide(provider, report, payment),
    metadata,
    known,
  })
  return state.status === 'none' ? undefined : { payment: state, isForeignIntent: isForeignIntent(report, state) }
}

/** The payment that our records assign to the report's intent or charge. */
async function ownerOf({ store }: Workflow, provider: Provider, report: ProviderReport): Promise<string | null> {
  for (const id of [report.provider_intent_id, report.provider_payment_id]) {
    if (id === null) continue
    const { state: owner } = await store.load(providerIntentStream(provider.id, id), intentOwnerFold)
    if (owner !== null) return owner
  }
  return null
}

type NotificationReport = ProviderReport & { readonly occurred_at: string; readonly is_own_intent: boolean }

/** The report's charge, if it belongs to the payment and is not recorded yet. */
function newChargeId(report: NotificationReport, payment: Payment): string | null {
  const { provider_payment_id: charge, provider_intent_id } = report
  if (charge === null || charge === provider_intent_id || charge === payment.provider_payment_id) return null
  return isForeignIntent(report, payment) ? null : charge
}

function decide(provider: Provider, report: NotificationReport, payment: PaymentState): PaymentEvent[] {
  switch (report.about) {
    case 'status': {
      const source = provider.retrieveIntent ? 'queryable_notification' : 'notification'
      return recordEvidence({ ...report, source }, payment)
    }
    case 'object':
      return []
    case 'refund':
      return recordRefund(report, payment)
    case 'dispute':
      return recordDispute(report, payment)
  }
}
