// What a notification says of a payment, taken into account by the payment that it is about.
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
  /** The notification only claims to be about it: its intent is another one, and what it says was ignored. */
  readonly isForeignIntent: boolean
}

/**
 * The payment that the notification is about, with what it says taken into account; nothing if it is not ours.
 * @throws DomainError `event_store_unavailable`
 */
export async function applyToPayment(
  workflow: Workflow,
  provider: Provider,
  { report: statement, referenced_payment_id }: ProviderNotification,
  metadata: EventMetadata,
): Promise<AppliedPayment | undefined> {
  if (!statement) return undefined
  const owner = await ownerOf(workflow, provider, statement)
  const paymentId = owner ?? referenced_payment_id
  if (!paymentId) return undefined
  const stream = paymentStream(paymentId)
  const known: LoadedState<PaymentState> = await workflow.store.load(stream, paymentFold)
  if (known.state.status === 'none' || known.state.provider_id !== provider.id) return undefined
  const occurred_at = workflow.now().toISOString()
  const report = { ...statement, occurred_at, is_own_intent: owner !== null }
  // Refunds and disputes may name the charge alone.
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

/** Whom our own records name: by the intent, or by the charge that came of one. */
async function ownerOf({ store }: Workflow, provider: Provider, report: ProviderReport): Promise<string | null> {
  for (const id of [report.provider_intent_id, report.provider_payment_id]) {
    if (id === null) continue
    const { state: owner } = await store.load(providerIntentStream(provider.id, id), intentOwnerFold)
    if (owner !== null) return owner
  }
  return null
}

type NotificationReport = ProviderReport & { readonly occurred_at: string; readonly is_own_intent: boolean }

/** The charge that the statement names, if it is the payment's and the payment does not know it yet. */
function newChargeId(report: NotificationReport, payment: Payment): string | null {
  const { provider_payment_id: charge, provider_intent_id } = report
  if (charge === null || charge === provider_intent_id || charge === payment.provider_payment_id) return null
  return isForeignIntent(report, payment) ? null : charge
}

function decide(provider: Provider, report: NotificationReport, payment: PaymentState): PaymentEvent[] {
  switch (report.about) {
    case 'status': {
      const source = provider.retrieveIntent ? 'askable_notification' : 'notification'
      return recordEvidence({ ...report, source }, payment)
    }
    case 'mention':
      return []
    case 'refund':
      return recordRefund(report, payment)
    case 'dispute':
      return recordDispute(report, payment)
  }
}
