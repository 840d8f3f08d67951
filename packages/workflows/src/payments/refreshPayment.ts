// Brings a payment up to date for a caller who waits: asks the provider now, and replaces a page that has expired.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { replaceIntent } from '@paylog/domain/payments/initiate'
import { existingPayment, type PaymentState } from '@paylog/domain/payments/payment'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Workflow } from '../context.ts'
import { beginOperation } from '../providerOperation.ts'
import { createIntent, providerOf } from './createIntent.ts'
import { reconcilePayment } from './reconcilePayment.ts'

/** A payment is asked about at most once in this time. In between, what is on record counts. */
const minPauseMs = 5_000
const maxKept = 10_000

export type RefreshPayment = (paymentId: string, metadata: EventMetadata) => Promise<LoadedState<PaymentState>>

/**
 * @returns a function that refreshes a payment; concurrent callers share one query
 * @throws DomainError `not_found`, `provider_not_enabled`, `provider_unavailable`, `provider_outcome_unknown`,
 *   `event_store_unavailable`
 */
export function createRefresh(workflow: Workflow): RefreshPayment {
  const asked = new Map<string, { readonly at: number; readonly done: Promise<void> }>()
  return async (paymentId, metadata) => {
    const now = performance.now()
    for (const [id, { at }] of asked)
      if (asked.size > maxKept || now - at > minPauseMs) asked.delete(id)
      else break
    const earlier = asked.get(paymentId)
    const done = earlier?.done ?? refresh(workflow, paymentId, metadata)
    if (!earlier) asked.set(paymentId, { at: now, done })
    await done
    return await workflow.store.load(paymentStream(paymentId), paymentFold)
  }
}

async function refresh(workflow: Workflow, paymentId: string, metadata: EventMetadata): Promise<void> {
  const { finding, payment, snapshot, problem } = await reconcilePayment(workflow, paymentId, metadata)
  const details = { payment_id: paymentId }
  if (problem === 'provider_not_enabled') providerOf(workflow, payment)
  if (finding === 'unreachable')
    throw new DomainError('provider_unavailable', 'The provider is not available at the moment', details)
  if (finding === 'unknown') throw new DomainError('provider_outcome_unknown', 'The outcome is not known yet', details)
  const isExpired = snapshot === undefined ? finding === 'missing' : snapshot.is_page_expired
  if (!isExpired || !providerOf(workflow, payment).pagesExpire) return
  const operation = createIntent(workflow, paymentId)
  const known = await workflow.store.load(operation.stream, paymentFold)
  const begin = (state: PaymentState, occurred_at: string) => replaceIntent({ occurred_at }, state)
  const replaced = await beginOperation(workflow, operation, begin, { known, metadata })
  const { intent_outcome: outcome } = existingPayment(replaced.state)
  if (outcome.kind === 'rejected') throw new DomainError(outcome.refusal, outcome.message, details)
  if (outcome.kind === 'unknown')
    throw new DomainError('provider_outcome_unknown', 'The outcome is not known yet', details)
}
