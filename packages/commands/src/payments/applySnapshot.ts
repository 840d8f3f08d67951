// Fetches a payment's snapshot from its provider, records it, and captures an approved payment.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import {
  existingPayment,
  isAbsorbing,
  openRequestOf,
  type Payment,
  type PaymentState,
} from '@paylog/domain/payments/payment'
import { recordRefund } from '@paylog/domain/payments/refunds'
import { recordStatusAndReversals } from '@paylog/domain/payments/reversals'
import { amountMatches } from '@paylog/domain/payments/statusReports'
import { causedBy, type HandledCommand, type LoadedState } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { type IntentRef, type IntentSnapshot, type Provider, ProviderError } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { callProvider, type ProviderOperation } from '../provider-calls/providerOperation.ts'

export type ProviderContext = {
  readonly workflow: Workflow
  readonly provider: Provider
  readonly metadata: EventMetadata
}

export type SnapshotResult = {
  readonly loaded: LoadedState<PaymentState>
  /** Undefined when the intent does not exist at the provider. */
  readonly snapshot: IntentSnapshot | undefined
}

/** Attempts when the payment changes while its snapshot is fetched. */
const maxSnapshots = 3

/**
 * Applies the provider's snapshot to a payment whose intent is known.
 * @param maxAgeMs how old the snapshot may be, if the payment has not changed since
 * @throws ProviderError; DomainError `event_store_unavailable`, and `concurrent_modification` when the payment keeps
 *   changing
 */
export async function applySnapshot(
  context: ProviderContext,
  assumed: LoadedState<PaymentState>,
  maxAgeMs = 0,
): Promise<SnapshotResult> {
  const { workflow, provider, metadata } = context
  let current = assumed
  for (let attempt = 1; attempt <= maxSnapshots; attempt++) {
    const found = await callProvider(workflow, retrieval(context, current, maxAgeMs), { assumed: current, metadata })
    const { result: snapshot } = found
    if (!snapshot || isDeclinedApproval(snapshot, existingPayment(current.state))) return { loaded: current, snapshot }
    const isOutdated = hasChanged(found, current)
    current = found
    if (isOutdated) continue
    if (!mayCapture(provider, snapshot, current)) return { loaded: current, snapshot }
    const assumed = current
    const captured = await callProvider(workflow, capture(context, assumed), {
      assumed,
      metadata: causedBy(found, metadata),
    })
    current = captured
    if (!hasChanged(captured, assumed)) return { loaded: current, snapshot: captured.result }
  }
  throw new DomainError('concurrent_modification', 'The payment keeps changing; try again')
}

/** Whether somebody else has changed the payment since it was loaded. Then the snapshot is not recorded. */
function hasChanged(
  { events, revision }: HandledCommand<PaymentState, PaymentEvent>,
  assumed: LoadedState<PaymentState>,
) {
  return events.length === 0 && revision !== assumed.revision
}

type SnapshotOperation = ProviderOperation<PaymentState, PaymentEvent, IntentSnapshot | undefined>

/** Fetches the snapshot. Nothing is changed by that, so there is no record of its begin. */
function retrieval(
  { workflow, provider }: ProviderContext,
  assumed: LoadedState<PaymentState>,
  maxAgeMs: number,
): SnapshotOperation {
  const as_of = asOf(workflow, assumed, maxAgeMs)
  return {
    ...snapshotEnd(assumed),
    call: async (state) => (await provider.retrieveIntent?.({ ...refOf(state), as_of })) ?? undefined,
  }
}

/**
 * Captures the approved money. The recorded approval is its begin. The key changes only after a failed capture: a further
 * capture then needs a new approval.
 */
function capture({ provider }: ProviderContext, assumed: LoadedState<PaymentState>): SnapshotOperation {
  return {
    ...snapshotEnd(assumed),
    async call(state) {
      const ref = refOf(state)
      const idempotency_key = `${ref.provider_intent_id}-capture-${existingPayment(state).failures + 1}`
      if (!provider.captureIntent) throw new Error(`${provider.id} does not support captures`)
      return provider.captureIntent({ ...ref, idempotency_key })
    },
  }
}

/** Records a snapshot, unless the payment has changed since it was requested. */
function snapshotEnd({ state }: LoadedState<PaymentState>): Omit<SnapshotOperation, 'call'> {
  return {
    stream: paymentStream(existingPayment(state).payment_id),
    fold: paymentFold,
    done(snapshot, { state, stateAtCall, occurred_at }) {
      if (!snapshot || state !== stateAtCall || isDeclinedApproval(snapshot, existingPayment(state))) return []
      return eventsOf(snapshot, state, occurred_at)
    },
  }
}

/**
 * Whether the open approval is the one whose capture was declined; providers leave such an approval open. Capturing it again
 * would be declined again, and each time send another payment.failed.
 *
 * A new approval by the payer arrives as a notification. Neither its time nor the snapshot shows whether it is new, so we
 * count: with more approvals than failures, one has not been captured yet.
 */
export function isDeclinedApproval(
  { awaits_capture }: IntentSnapshot,
  { status, failures, approvals_reported }: Pick<Payment, 'status' | 'failures' | 'approvals_reported'>,
): boolean {
  return awaits_capture && status === 'failed' && approvals_reported <= failures
}

/**
 * The payment's intent.
 * @throws ProviderError `unknown` while the outcome of the create call is: the reconciler finishes that first
 */
export function refOf(state: PaymentState): IntentRef {
  const { payment_id, provider_intent_id, provider_payment_id, currency, capture_method, create } =
    existingPayment(state)
  if (provider_intent_id === null)
    throw new ProviderError('unknown', 'intent_not_recorded', 'The intent of the payment is not recorded yet')
  const created_at = create.started_at
  return { payment_id, provider_intent_id, provider_payment_id, currency, capture_method, created_at }
}

/** How far the clocks of our processes may differ. */
const clockMarginMs = 5_000

function asOf({ now: clock }: Workflow, { state }: LoadedState<PaymentState>, maxAgeMs: number): string {
  const now = clock().getTime()
  const changedAt = Date.parse(existingPayment(state).updated_at) + clockMarginMs
  return new Date(Math.min(now, Math.max(now - maxAgeMs, changedAt))).toISOString()
}

function mayCapture(
  provider: Provider,
  { awaits_capture, report }: IntentSnapshot,
  { state }: LoadedState<PaymentState>,
) {
  const payment = existingPayment(state)
  const isWanted = !isAbsorbing(payment.status) && openRequestOf(payment)?.call !== 'cancel'
  return awaits_capture && provider.captureIntent && isWanted && amountMatches(report, payment)
}

/** The events that follow from a snapshot: its status, further charges, and refunds. */
export function eventsOf(
  { report, further_charges, awaits_capture, refunds = [] }: IntentSnapshot,
  state: PaymentState,
  occurred_at: string,
): PaymentEvent[] {
  const reports = [
    { ...report, awaits_capture },
    ...further_charges.map((charge) => ({ ...report, status: 'succeeded' as const, ...charge })),
  ]
  const events: PaymentEvent[] = []
  let current = state
  const record = (recorded: readonly PaymentEvent[]) => {
    current = recorded.reduce(paymentFold.evolve, current)
    events.push(...recorded)
  }
  for (const report of reports)
    record(recordStatusAndReversals({ ...report, occurred_at, source: 'snapshot' }, current))
  // Failed ones first: what they free may have been refunded again since.
  const inOrder = refunds.toSorted((a, b) => Number(b.status === 'failed') - Number(a.status === 'failed'))
  for (const refund of inOrder) record(recordRefund({ ...refund, occurred_at }, current))
  return events
}
