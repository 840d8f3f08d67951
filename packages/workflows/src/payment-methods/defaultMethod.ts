// Which saved method is its owner's default.
import type { EventMetadata } from '@paylog/domain/messages'
import { recordedOwner } from '@paylog/domain/owner'
import {
  clearDefaultMethod,
  type PaymentMethodState,
  paymentMethodFold,
} from '@paylog/domain/payment-methods/paymentMethod'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import type { Workflow } from '../context.ts'
import { type DefaultChoiceRequest, chooseDefaultItem, clearPreviousDefaults } from './defaultChoice.ts'

export type MethodChoiceRequest = {
  readonly payment_method_id: string
  /** See `ownerOf`. */
  readonly owner: string
  readonly metadata: EventMetadata
}

/** Chooses a method as the default, before it carries the choice's number. @returns the number */
export function chooseDefaultMethod(workflow: Workflow, choosing: MethodChoiceRequest): Promise<number> {
  return chooseDefaultItem(workflow, toDefaultChoiceRequest(choosing))
}

/** Has the former default cleared, once the chosen method carries its number. */
export async function clearPreviousDefaultMethods(workflow: Workflow, choosing: MethodChoiceRequest): Promise<void> {
  const { owner, metadata } = choosing
  await clearPreviousDefaults(workflow, toDefaultChoiceRequest(choosing), async (id, overtakenBy) => {
    await workflow.store.handle({
      stream: paymentMethodStream(id),
      fold: paymentMethodFold,
      decide(state) {
        // A method that was chosen before it turned out to be somebody else's is theirs to decide about.
        if (state.status !== 'saved' || recordedOwner(state) !== owner) return []
        const { default_choice } = state
        if (default_choice === null || default_choice >= overtakenBy) return []
        return clearDefaultMethod({ occurred_at: workflow.now().toISOString() }, state)
      },
      metadata,
    })
  })
}

/**
 * Clears what a removed method was chosen over, before it is added again: it begins anew and loses its number, and nothing
 * that the number outdid may count again.
 */
export async function clearSupersededDefaults(
  workflow: Workflow,
  method: PaymentMethodState,
  metadata: EventMetadata,
): Promise<void> {
  if (method.status !== 'removed' || method.default_choice === null) return
  const { payment_method_id } = method
  const owner = recordedOwner(method)
  if (owner !== null) await clearPreviousDefaultMethods(workflow, { owner, payment_method_id, metadata })
}

function toDefaultChoiceRequest({
  owner,
  payment_method_id: item_id,
  metadata,
}: MethodChoiceRequest): DefaultChoiceRequest {
  return { list: 'payment_methods', owner, item_id, metadata }
}
