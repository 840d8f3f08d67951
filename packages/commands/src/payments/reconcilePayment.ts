// Compares a payment with its provider: finishes an open create call, captures an approved payment, applies the snapshot.

import type { EventMetadata } from '@paylog/domain/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { recordIntentCreated } from '@paylog/domain/payments/initiate'
import {
  existingPayment,
  openCallsOf,
  openCreateOf,
  type Payment,
  type PaymentState,
  type PaymentStatus,
} from '@paylog/domain/payments/payment'
import { amountMatches, type StatusReport } from '@paylog/domain/payments/statusReports'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { type IntentSnapshot, type Provider, ProviderError, type ProviderIntent } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { finishOperation, isInFlight } from '../provider-calls/providerOperation.ts'
import { applySnapshot, isDeclinedApproval, type ProviderContext, refOf } from './applySnapshot.ts'
import { createIntent } from './createIntent.ts'
import { intentCall } from './intentCalls.ts'
import { refundCall } from './refundPayment.ts'

export type Finding =
  /** The provider agrees with the record, or cannot be queried. */
  | 'same'
  /** The provider had a newer state, which is now recorded. */
  | 'late'
  /** The recorded intent does not exist at the provider. */
  | 'missing'
  /** The amount or currency paid or approved at the provider differs from the payment's. */
  | 'amount_differs'
  /** An approval is open at the provider, but its capture was declined; it is not captured again. */
  | 'approval_waits'
  /** The provider contradicts a final status, or charged the payer twice. */
  | 'conflict'
  /** The outcome of a call is still unknown. */
  | 'unknown'
  /** The provider did not respond, or is not enabled. */
  | 'unreachable'

export type Reconciliation = {
  readonly finding: Finding
  readonly status_before: PaymentStatus
  readonly payment: Payment
  /** Undefined when the provider was not queried, or did not respond. */
  readonly snapshot: IntentSnapshot | undefined
  /** The provider's error code. */
  readonly problem: string | undefined
}

/** PayPal keeps a key for six hours, Stripe for a day; later the same key would create another intent. */
const keyLifetimeMs = 5 * 60 * 60 * 1000

/** Prefers an intent that may already be paid to one that is still open. */
const intentPreference: Readonly<Record<PaymentStatus, number>> = {
  succeeded: 0,
  processing: 1,
  pending: 2,
  failed: 3,
  canceled: 4,
}

/**
 * Brings one payment up to date with its provider. Safe to repeat, and to run beside other requests.
 * @param options `maxAgeMs`: how old the snapshot may be, so that payments can share one query
 * @throws DomainError `not_found`, `event_store_unavailable`, `concurrent_modification`
 */
export async function reconcilePayment(
  workflow: Workflow,
  paymentId: string,
  metadata: EventMetadata,
  { maxAgeMs = 0 }: { readonly maxAgeMs?: number } = {},
): Promise<Reconciliation> {
  const before: LoadedState<PaymentState> = await workflow.store.load(paymentStream(paymentId), paymentFold)
  const payment = existingPayment(before.state)
  const base = { status_before: payment.status, payment, snapshot: undefined, problem: undefined }
  const provider = workflow.providers.get(payment.provider_id)
  if (!provider) return { ...base, finding: 'unreachable', problem: 'provider_not_enabled' }
  try {
    const context = { workflow, provider, metadata }
    const created = await finishCall(context, before)
    const called = await finishCalls(context, created)
    const isLate = called.revision !== before.revision
    const now = existingPayment(called.state)
    const { outcome } = now.create
    if (outcome === 'unknown') return { ...base, payment: now, finding: 'unknown' }
    if (outcome === 'throttled') return { ...base, payment: now, finding: 'unreachable', problem: 'throttled' }
    if (outcome !== 'done' || !provider.retrieveIntent)
      return { ...base, payment: now, finding: withCalls('same', now, isLate) }
    const { loaded, snapshot } = await applySnapshot(context, called, maxAgeMs)
    const after = existingPayment(loaded.state)
    const finding = isLapsing(provider, after, snapshot) ? 'same' : findingOf(now, after, snapshot)
    return { ...base, payment: after, snapshot, finding: withCalls(finding, after, isLate) }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const { state } = await workflow.store.load(paymentStream(paymentId), paymentFold)
    const finding = error.kind === 'unknown' ? 'unknown' : 'unreachable'
    return { ...base, payment: existingPayment(state), finding, problem: error.code }
  }
}

/**
 * Repeats the payment's open create call with the same key. If the outcome stays unknown, or the key may have expired,
 * searches the provider for an intent that names the payment, and adopts it.
 * @returns the payment; unchanged if its call is not open, or its first caller may still be working on it
 * @throws ProviderError when the search fails
 */
async function finishCall(
  context: ProviderContext,
  assumed: LoadedState<PaymentState>,
): Promise<LoadedState<PaymentState>> {
  const { workflow, metadata } = context
  const payment = existingPayment(assumed.state)
  const open = openCreateOf(payment)
  if (!open || isInFlight(workflow, open)) return assumed
  const isKeyOld = workflow.now().getTime() - Date.parse(open.started_at) > keyLifetimeMs
  const adopted = isKeyOld ? await adoptFoundIntent(context, assumed) : assumed
  const operation = createIntent(workflow, payment.payment_id)
  const called = await finishOperation(workflow, operation, { assumed: adopted, metadata })
  if (!called) return adopted
  return existingPayment(called.state).create.outcome === 'unknown' ? adoptFoundIntent(context, called) : called
}

/** Finishes the cancel or capture call and the refunds that are open and that nobody else may be making. */
async function finishCalls(
  { workflow, metadata }: ProviderContext,
  created: LoadedState<PaymentState>,
): Promise<LoadedState<PaymentState>> {
  const { payment_id, refunds } = existingPayment(created.state)
  const operation = intentCall(workflow, payment_id)
  let assumed = (await finishOperation(workflow, operation, { assumed: created, metadata })) ?? created
  for (const { refund_id } of refunds) {
    const operation = refundCall(workflow, payment_id, refund_id)
    assumed = (await finishOperation(workflow, operation, { assumed, metadata })) ?? assumed
  }
  return assumed
}

async function adoptFoundIntent(
  { workflow, provider, metadata }: ProviderContext,
  assumed: LoadedState<PaymentState>,
): Promise<LoadedState<PaymentState>> {
  const payment = existingPayment(assumed.state)
  const found = (await provider.findIntents?.(payment.payment_id)) ?? []
  const [best] = found.toSorted((a, b) => intentPreference[a.status] - intentPreference[b.status])
  const intent = best ?? paidIntentOf(payment)
  if (!intent) return assumed
  const { provider_intent_id, client_secret } = intent
  const { attempt } = payment.create
  const handled = await workflow.store.handle({
    stream: paymentStream(payment.payment_id),
    fold: paymentFold,
    decide: (state) =>
      recordIntentCreated(
        { occurred_at: workflow.now().toISOString(), attempt, provider_intent_id, client_secret },
        state,
      ),
    metadata,
    assumed,
  })
  const recorded = existingPayment(handled.state).provider_intent_id
  // Cancel the duplicates, so that they cannot be paid as well.
  for (const other of found)
    if (other.provider_intent_id !== recorded && isPayable(other.status)) {
      const { provider_intent_id } = other
      const ref = { ...refOf(handled.state), provider_intent_id, provider_payment_id: null }
      await provider.cancelIntent({ ...ref, idempotency_key: `${provider_intent_id}-cancel` })
    }
  return handled
}

/** Where intents cannot be searched, the one of the notifications by which the payment has succeeded. */
function paidIntentOf({ status, reported_intent_id }: Payment): ProviderIntent | undefined {
  if (status !== 'succeeded' || reported_intent_id === null) return undefined
  return { provider_intent_id: reported_intent_id, client_secret: null }
}

const isPayable = (status: PaymentStatus) => status === 'pending' || status === 'failed'

/** Where an intent cannot be canceled, it stays open until it lapses. Nothing is captured of it. */
function isLapsing({ pagesExpire }: Provider, { status }: Payment, snapshot: IntentSnapshot | undefined): boolean {
  const isUnpaid = snapshot?.report.status === 'pending' || snapshot?.awaits_capture
  return pagesExpire && status === 'canceled' && Boolean(isUnpaid)
}

/** What the calls of a payment add to a snapshot that agrees. @param isLate whether the end of a call was recorded now */
function withCalls(finding: Finding, payment: Payment, isLate: boolean): Finding {
  if (finding !== 'same') return finding
  if (openCallsOf(payment).some(({ outcome }) => outcome === 'unknown')) return 'unknown'
  return isLate ? 'late' : 'same'
}

function findingOf(before: Payment, payment: Payment, snapshot: IntentSnapshot | undefined): Finding {
  if (!snapshot) return 'missing'
  const { report, awaits_capture } = snapshot
  if ((report.status === 'succeeded' || awaits_capture) && !amountMatches(report, payment)) return 'amount_differs'
  const isAsBefore = payment.status === before.status && payment.failures === before.failures
  if (isDeclinedApproval(snapshot, payment)) return isAsBefore ? 'approval_waits' : 'late'
  if (!isStatusKnown(report, payment) || isChargedTwice(snapshot, payment)) return 'conflict'
  return isAsBefore ? 'same' : 'late'
}

/**
 * A payment stays succeeded when its charge is reversed. A canceled one may still look unpaid where an intent cannot be
 * canceled, and lapses.
 */
function isStatusKnown({ status, reversals = [], provider_payment_id }: StatusReport, payment: Payment): boolean {
  if (status === payment.status) return true
  const isReversed = reversals.some((reversal) => reversal.provider_payment_id === provider_payment_id)
  if (payment.status === 'succeeded') return isReversed
  return payment.status === 'canceled' && (status === 'pending' || status === 'failed')
}

function isChargedTwice({ report, further_charges }: IntentSnapshot, payment: Payment): boolean {
  if (further_charges.length > 0) return true
  const { provider_payment_id: recorded, failed_charges } = payment
  const { status, provider_payment_id: charge } = report
  if (status !== 'succeeded' || charge === null || recorded === null) return false
  return charge !== recorded && !failed_charges.includes(recorded)
}
