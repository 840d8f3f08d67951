// Finishes a create call that a crash or a lost answer left open.

import type { EventMetadata } from '@paylog/domain/events'
import { amountMatches } from '@paylog/domain/payments/evidence'
import { recordIntentCreated } from '@paylog/domain/payments/initiate'
import {
  existingPayment,
  type Payment,
  type PaymentState,
  type PaymentStatus,
  paymentFold,
} from '@paylog/domain/payments/payment'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { type IntentSnapshot, ProviderError } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { applySnapshot, isDeclinedApproval, type ProviderContext } from './applySnapshot.ts'
import { callProvider, isInFlight, recordIntentOwner } from './providerCall.ts'

/** PayPal keeps a key for six hours, Stripe for a day; later the same key would make another intent. */
const keyLifetimeMs = 5 * 60 * 60 * 1000

/**
 * Makes the payment's open call again, with its key. When that answers nothing, or the key is too old to mean anything,
 * the provider is searched for an intent that names the payment, and that one is taken.
 * @returns the payment as it is then; it is as it was when its call is not open, or its first caller may still be at it
 * @throws ProviderError when the search is not answered
 */
async function finishCall(
  context: ProviderContext,
  known: LoadedState<PaymentState>,
): Promise<LoadedState<PaymentState>> {
  const { workflow, metadata } = context
  const payment = existingPayment(known.state)
  const { kind } = payment.intent_outcome
  if (kind === 'created' || kind === 'rejected' || isInFlight(workflow, payment)) return known
  const isKeyOld = workflow.now().getTime() - Date.parse(payment.attempt_started_at) > keyLifetimeMs
  const adopted = isKeyOld ? await adoptFoundIntent(context, known) : known
  if (existingPayment(adopted.state).intent_outcome.kind === 'created') return adopted
  // A throttled call did nothing, so that this is as good as the first one.
  const call = kind === 'throttled' ? 'first' : 'repeated'
  const called = await callProvider(workflow, adopted, { metadata, call })
  return existingPayment(called.state).intent_outcome.kind === 'unknown' ? adoptFoundIntent(context, called) : called
}

/** An intent that may be paid already comes before one that is still open. */
const intentPreference: Readonly<Record<PaymentStatus, number>> = {
  succeeded: 0,
  processing: 1,
  pending: 2,
  failed: 3,
  canceled: 4,
}

async function adoptFoundIntent(
  { workflow, provider, metadata }: ProviderContext,
  known: LoadedState<PaymentState>,
): Promise<LoadedState<PaymentState>> {
  const payment = existingPayment(known.state)
  const found = (await provider.findIntents?.(payment.payment_id)) ?? []
  const [best] = found.toSorted((a, b) => intentPreference[a.status] - intentPreference[b.status])
  if (!best) return known
  const { provider_intent_id, client_secret } = best
  const { attempt } = payment
  await recordIntentOwner(workflow, payment, provider_intent_id, metadata)
  const handled = await workflow.store.handle({
    stream: paymentStream(payment.payment_id),
    fold: paymentFold,
    decide: (state) =>
      recordIntentCreated(
        { occurred_at: workflow.now().toISOString(), attempt, provider_intent_id, client_secret },
        state,
      ),
    metadata,
    known,
  })
  const kept = existingPayment(handled.state).provider_intent_id
  // Nobody was told of the others, and nobody shall be able to pay them as well.
  for (const other of found)
    if (other.provider_intent_id !== kept && isPayable(other.status))
      await provider.cancelIntent?.(other.provider_intent_id)
  return handled
}

const isPayable = (status: PaymentStatus) => status === 'pending' || status === 'failed'

// What the provider says about a payment, held against what is on record: finishes calls that were left open, takes money
// that was approved, and applies the provider's present state by the rules of every other statement.

export type Finding =
  /** The provider says the same, or has nothing to say about this payment. */
  | 'same'
  /** Something had happened that was not on record; it is now. */
  | 'late'
  /** The provider does not know the intent that is on record. */
  | 'missing'
  /** The provider was paid another amount, or in another currency, or the payer has approved such a one. */
  | 'amount_differs'
  /** The payer's approval waits at the provider, and its capture was declined; it is not taken once more. */
  | 'approval_waits'
  /** The provider contradicts a status that is never left, or took money twice. */
  | 'conflict'
  /** It is still not known what became of a call. */
  | 'unknown'
  /** The provider did not answer, or is not enabled. */
  | 'unreachable'

export type Reconciliation = {
  readonly finding: Finding
  readonly status_before: PaymentStatus
  readonly payment: Payment
  /** What the provider says; absent when it was not asked, or did not answer. */
  readonly snapshot: IntentSnapshot | undefined
  /** The provider's code of what went wrong. */
  readonly problem: string | undefined
}

/**
 * Brings one payment up to what its provider says. Can be repeated at any time, also beside other requests.
 * @param options `maxAgeMs`: how old the provider's answer may be, so that questions about several payments share one
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
    const called = await finishCall(context, before)
    const isLate = called.revision !== before.revision
    const now = existingPayment(called.state)
    if (now.intent_outcome.kind === 'unknown') return { ...base, payment: now, finding: 'unknown' }
    if (now.intent_outcome.kind === 'throttled')
      return { ...base, payment: now, finding: 'unreachable', problem: 'throttled' }
    if (now.intent_outcome.kind !== 'created' || !provider.retrieveIntent)
      return { ...base, payment: now, finding: isLate ? 'late' : 'same' }
    const { loaded, snapshot } = await applySnapshot(context, called, maxAgeMs)
    const known = existingPayment(loaded.state)
    const finding = findingOf(now, known, snapshot)
    return { ...base, payment: known, snapshot, finding: isLate && finding === 'same' ? 'late' : finding }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const { state } = await workflow.store.load(paymentStream(paymentId), paymentFold)
    const finding = error.kind === 'unknown' ? 'unknown' : 'unreachable'
    return { ...base, payment: existingPayment(state), finding, problem: error.code }
  }
}

function findingOf(before: Payment, payment: Payment, snapshot: IntentSnapshot | undefined): Finding {
  if (!snapshot) return 'missing'
  const { evidence, awaits_capture } = snapshot
  if ((evidence.status === 'succeeded' || awaits_capture) && !amountMatches(evidence, payment)) return 'amount_differs'
  const isAsBefore = payment.status === before.status && payment.failures === before.failures
  if (isDeclinedApproval(snapshot, payment)) return isAsBefore ? 'approval_waits' : 'late'
  if (payment.status !== evidence.status || isChargedTwice(snapshot, payment)) return 'conflict'
  return isAsBefore ? 'same' : 'late'
}

function isChargedTwice({ evidence, further_charges }: IntentSnapshot, payment: Payment): boolean {
  if (further_charges.length > 0) return true
  const { provider_payment_id: known, failed_charges } = payment
  const { status, provider_payment_id: charge } = evidence
  if (status !== 'succeeded' || charge === null || known === null) return false
  return charge !== known && !failed_charges.includes(known)
}
