// Brings a payment up to date for a caller who waits: asks the provider now, and replaces a page that has expired.
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { replaceIntent } from '@paylog/domain/payments/initiate'
import { existingPayment, type PaymentState } from '@paylog/domain/payments/payment'
import type { LoadedState } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Workflow } from '../context.ts'
import { beginOperation } from '../provider-calls/providerOperation.ts'
import { createError, createIntent, providerOf } from './createIntent.ts'
import { reconcilePayment } from './reconcilePayment.ts'

/** The provider is asked about a payment at most once in this time. In between, the record counts. */
const minPauseMs = 5_000
const maxKept = 10_000

export type RefreshPayment = (paymentId: string, metadata: EventMetadata) => Promise<LoadedState<PaymentState>>

type Query = { readonly at: number; readonly ended: Promise<void>; isOpen: boolean }

/**
 * @param now a clock in ms
 * @returns a function that refreshes a payment. Concurrent callers share one query, and its error; a later caller within
 *   the pause gets the payment as recorded. It throws DomainError `not_found`, `provider_not_enabled`,
 *   `provider_unavailable`, `provider_outcome_unknown`, `event_store_unavailable`, and why an expired page could not be
 *   replaced
 */
export function createRefresh(workflow: Workflow, now = () => performance.now()): RefreshPayment {
  const queries = new Map<string, Query>()
  return async (paymentId, metadata) => {
    forgetOld(queries, now())
    const assumed = queries.get(paymentId)
    const query = assumed ?? begin(refresh(workflow, paymentId, metadata), now())
    if (!assumed) queries.set(paymentId, query)
    if (query.isOpen) await query.ended
    return await workflow.store.load(paymentStream(paymentId), paymentFold)
  }
}

function begin(ended: Promise<void>, at: number): Query {
  const query: Query = { at, ended, isOpen: true }
  const close = () => {
    query.isOpen = false
  }
  ended.then(close, close)
  return query
}

/** Queries are in the order in which they started. */
function forgetOld(queries: Map<string, Query>, now: number): void {
  for (const [id, { at, isOpen }] of queries) {
    if (now - at < minPauseMs && queries.size <= maxKept) return
    if (!isOpen) queries.delete(id)
  }
}

async function refresh(workflow: Workflow, paymentId: string, metadata: EventMetadata): Promise<void> {
  const { finding, payment, snapshot, problem } = await reconcilePayment(workflow, paymentId, metadata)
  const details = { payment_id: paymentId }
  if (problem === 'provider_not_enabled') providerOf(workflow, payment)
  if (finding === 'unreachable')
    throw new DomainError('provider_unavailable', 'The provider is not available at the moment', details)
  // With a snapshot only another call is unknown, such as a refund, and the payment itself is as it is now.
  if (finding === 'unknown' && !snapshot)
    throw new DomainError('provider_outcome_unknown', 'The outcome is not known yet', details)
  const isExpired = snapshot === undefined ? finding === 'missing' : snapshot.is_page_expired
  if (isExpired && providerOf(workflow, payment).pagesExpire) await replacePage(workflow, paymentId, metadata)
}

/** Creates another intent, with another page. */
async function replacePage(workflow: Workflow, paymentId: string, metadata: EventMetadata): Promise<void> {
  const operation = createIntent(workflow, paymentId)
  const assumed = await workflow.store.load(operation.stream, paymentFold)
  const begin = (state: PaymentState, occurred_at: string) => replaceIntent({ occurred_at }, state)
  const replaced = await beginOperation(workflow, operation, begin, { assumed, metadata })
  const error = createError(existingPayment(replaced.state))
  if (error) throw error
}
