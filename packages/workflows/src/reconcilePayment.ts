// What the provider says about a payment, held against what is on record: finishes calls that were left open, takes money
// that was approved, and applies the provider's present state by the rules of every other statement.
import type { EventMetadata } from '@paylog/domain/messages'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { amountMatches, recordEvidence } from '@paylog/domain/payments/evidence'
import { existing, type Payment, type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import { isAbsorbing, type PaymentStatus } from '@paylog/domain/payments/status'
import type { Loaded } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { type IntentSnapshot, type Provider, ProviderError } from '@paylog/providers/provider'
import type { Workflow } from './context.ts'
import { finishCall } from './finishCall.ts'
import { ownProviderId } from './providerCall.ts'

export type Finding =
  /** The provider says the same, or has nothing to say about this payment. */
  | 'same'
  /** Something had happened that was not on record; it is now. */
  | 'late'
  /** The provider does not know the intent that is on record. */
  | 'missing'
  /** The provider was paid another amount, or in another currency. */
  | 'amount_differs'
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

/** How often the question is asked anew because the payment changed while it was asked. */
const maxRounds = 3

/**
 * Brings one payment up to what its provider says. Can be repeated at any time, also beside other requests.
 * @throws DomainError `not_found`, `event_store_unavailable`, `concurrent_modification`
 */
export async function reconcilePayment(
  workflow: Workflow,
  paymentId: string,
  metadata: EventMetadata,
): Promise<Reconciliation> {
  const before: Loaded<PaymentState> = await workflow.store.load(paymentStream(paymentId), paymentFold)
  const payment = existing(before.state)
  const unasked = { status_before: payment.status, payment, snapshot: undefined, problem: undefined }
  const provider = workflow.providers.get(payment.provider_id)
  if (!provider) return { ...unasked, finding: 'unreachable', problem: 'provider_not_enabled' }
  try {
    const called = await finishCall({ workflow, provider, metadata }, before)
    const isLate = called.revision !== before.revision
    const now = existing(called.state)
    if (now.intent_outcome.kind === 'unknown') return { ...unasked, payment: now, finding: 'unknown' }
    if (now.intent_outcome.kind !== 'created' || !provider.retrieveIntent)
      return { ...unasked, payment: now, finding: isLate ? 'late' : 'same' }
    const asked = await askForState({ workflow, provider, metadata }, called)
    return { ...unasked, ...asked, finding: isLate && asked.finding === 'same' ? 'late' : asked.finding }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const { state } = await workflow.store.load<PaymentState, PaymentEvent>(paymentStream(paymentId), paymentFold)
    const finding = error.kind === 'unknown' ? 'unknown' : 'unreachable'
    return { ...unasked, payment: existing(state), finding, problem: error.code }
  }
}

type Question = { readonly workflow: Workflow; readonly provider: Provider; readonly metadata: EventMetadata }
type Asked = Pick<Reconciliation, 'finding' | 'payment' | 'snapshot'>

/** Asks, records, takes what was approved, and records how that ended. */
async function askForState(question: Question, known: Loaded<PaymentState>): Promise<Asked> {
  const { provider } = question
  const statusBefore = existing(known.state).status
  let current = known
  for (let round = 1; ; round++) {
    const snapshot = (await provider.retrieveIntent?.(refOf(current))) ?? undefined
    if (!snapshot) return { finding: 'missing', payment: existing(current.state), snapshot }
    const applied = await apply(question, current, snapshot)
    current = applied.loaded
    if (applied.changedMeanwhile && round < maxRounds) continue
    if (!mayCapture(provider, snapshot, current)) return verdict(statusBefore, current, snapshot)
    const captured = await capture(question, current)
    const settled = await apply(question, current, captured)
    return verdict(statusBefore, settled.loaded, captured)
  }
}

function refOf({ state }: Loaded<PaymentState>) {
  const { payment_id, provider_intent_id, provider_payment_id, currency, created_at } = existing(state)
  if (provider_intent_id === null) throw new Error('A created intent without an id')
  return { payment_id, provider_intent_id, provider_payment_id, currency, created_at }
}

function mayCapture(provider: Provider, { awaits_capture, evidence }: IntentSnapshot, { state }: Loaded<PaymentState>) {
  const payment = existing(state)
  return awaits_capture && provider.captureIntent && !isAbsorbing(payment.status) && amountMatches(evidence, payment)
}

/** The key is the same until the provider has reported that a capture failed: the payer then approved anew. */
async function capture({ provider }: Question, current: Loaded<PaymentState>): Promise<IntentSnapshot> {
  const ref = refOf(current)
  const idempotency_key = `${ref.provider_intent_id}-capture-${existing(current.state).failures + 1}`
  if (!provider.captureIntent) throw new Error(`${provider.id} captures nothing`)
  return provider.captureIntent({ ...ref, idempotency_key })
}

/** Records a snapshot, unless the payment has changed since the question was asked. */
async function apply(
  { workflow, metadata }: Question,
  known: Loaded<PaymentState>,
  snapshot: IntentSnapshot,
): Promise<{ readonly loaded: Loaded<PaymentState>; readonly changedMeanwhile: boolean }> {
  const { evidence } = snapshot
  const payment = existing(known.state)
  const chargeId = evidence.provider_payment_id
  if (chargeId !== null && chargeId !== payment.provider_payment_id && chargeId !== payment.provider_intent_id)
    await ownProviderId(workflow, payment, chargeId, metadata)
  const loaded = await workflow.store.handle<PaymentState, PaymentEvent>({
    stream: paymentStream(payment.payment_id),
    fold: paymentFold,
    decide: (state) => (state === known.state ? eventsOf(snapshot, state, workflow.now().toISOString()) : []),
    metadata,
    known,
  })
  return { loaded, changedMeanwhile: loaded.events.length === 0 && loaded.revision !== known.revision }
}

function eventsOf({ evidence, further_charges }: IntentSnapshot, state: PaymentState, occurred_at: string) {
  const statements = [
    evidence,
    ...further_charges.map((provider_payment_id) => ({
      ...evidence,
      status: 'succeeded' as const,
      provider_payment_id,
    })),
  ]
  const events: PaymentEvent[] = []
  let current = state
  for (const statement of statements) {
    const more = recordEvidence({ ...statement, occurred_at, source: 'snapshot' }, current)
    current = more.reduce(paymentFold.evolve, current)
    events.push(...more)
  }
  return events
}

function verdict(before: PaymentStatus, { state }: Loaded<PaymentState>, snapshot: IntentSnapshot): Asked {
  const payment = existing(state)
  return { finding: findingOf(before, payment, snapshot), payment, snapshot }
}

function findingOf(before: PaymentStatus, payment: Payment, { evidence, further_charges }: IntentSnapshot): Finding {
  const chargedTwice =
    further_charges.length > 0 ||
    (evidence.status === 'succeeded' &&
      evidence.provider_payment_id !== null &&
      evidence.provider_payment_id !== payment.provider_payment_id)
  if (evidence.status === 'succeeded' && !amountMatches(evidence, payment)) return 'amount_differs'
  if (payment.status !== evidence.status || chargedTwice) return 'conflict'
  return payment.status === before ? 'same' : 'late'
}
