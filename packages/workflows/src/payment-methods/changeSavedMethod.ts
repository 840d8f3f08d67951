// What an owner changes of a saved method: its alias, and whether it is the default.
import type { EventMetadata } from '@paylog/domain/messages'
import { changePaymentMethod, paymentMethodFold } from '@paylog/domain/payment-methods/paymentMethod'
import type { Revision } from '@paylog/event-store/append/appending'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import type { Workflow } from '../context.ts'
import { chooseDefaultMethod, clearPreviousDefaultMethods } from './defaultMethod.ts'
import { loadOwnedMethod, type StoredMethod, toStoredMethod, ownedMethod } from './ownedMethod.ts'

export type ChangeSavedMethod = {
  readonly payment_method_id: string
  /** See `ownerOf`. */
  readonly owner: string
  /** Left out: it stays. */
  readonly alias?: string | null
  readonly is_default?: boolean
  /** Throws when the owner has not meant to change the method as it is now. */
  readonly checkRevision: (revision: Revision) => void
  readonly metadata: EventMetadata
}

/**
 * Changes a method, and has the former default cleared when this one takes its place.
 * @throws DomainError `not_found`, `event_store_unavailable`, and what `permit` throws; nothing is recorded then
 */
export async function changeSavedMethod(workflow: Workflow, request: ChangeSavedMethod): Promise<StoredMethod> {
  const { owner, alias, is_default, checkRevision, metadata } = request
  const known = await loadOwnedMethod(workflow, request.payment_method_id, owner)
  checkRevision(known.revision)
  const { payment_method_id } = known.method
  const choice = { owner, payment_method_id, metadata }
  const default_choice = is_default ? await chooseDefaultMethod(workflow, choice) : null
  const handled = await workflow.store.handle({
    stream: paymentMethodStream(payment_method_id),
    fold: paymentMethodFold,
    decide(state, revision) {
      const method = ownedMethod(state, owner)
      checkRevision(revision)
      const change = {
        occurred_at: workflow.now().toISOString(),
        ...(alias === undefined ? {} : { alias }),
        ...(is_default === undefined ? {} : { default_choice }),
      }
      return changePaymentMethod(change, method)
    },
    metadata,
    known,
  })
  if (is_default) await clearPreviousDefaultMethods(workflow, choice)
  return toStoredMethod(handled)
}
