// One default per owner and list, across streams that cannot be written together. The choice itself is one append to a
// stream of the list's own; the items follow, and carry its number.

import { recordedOwner } from '@paylog/domain/actor'
import {
  chooseDefault,
  type DefaultChoiceEvent,
  type DefaultsList,
  defaultChoiceFold,
  previousDefaultsFold,
} from '@paylog/domain/defaultChoice'
import type { EventMetadata } from '@paylog/domain/events'
import {
  clearDefaultMethod,
  type PaymentMethodState,
  paymentMethodFold,
} from '@paylog/domain/payment-methods/paymentMethod'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { newStream } from '@paylog/event-store/eventStore'
import { defaultChoiceStream, paymentMethodStream } from '@paylog/event-store/streamName'
import type { Workflow } from '../context.ts'

export type DefaultChoiceRequest = {
  readonly list: DefaultsList
  /** See `ownerOf`. */
  readonly owner: string
  readonly item_id: string
  readonly metadata: EventMetadata
}

/**
 * In which the item that has just been chosen and its formers are found. A list may have been chosen from any number of
 * times, and is not read as a whole.
 */
const maxChoicesRead = 100

/**
 * Chooses an item, before it carries the choice's number.
 * @returns the number
 * @throws DomainError `event_store_unavailable`
 */
export async function chooseDefaultItem(workflow: Workflow, choosing: DefaultChoiceRequest): Promise<number> {
  const { store, now } = workflow
  const { list, owner, item_id: chosen_id, metadata } = choosing
  const [last] = await latestChoices(workflow, choosing, 1)
  if (last?.data.chosen_id === chosen_id) return last.data.choice
  const { state } = await store.handle({
    stream: defaultChoiceStream(list, owner),
    fold: defaultChoiceFold,
    decide: (latest) => chooseDefault({ list, chosen_id, occurred_at: now().toISOString() }, latest),
    metadata,
    known: last
      ? { state: defaultChoiceFold.evolve(null, last), revision: last.revision, position: last.position }
      : newStream(defaultChoiceFold),
  })
  if (state === null) throw new Error('A choice was made and is not there')
  return state.choice
}

/**
 * Has the former default cleared, once the chosen item carries its number. It is the one chosen before this item, whatever
 * was chosen since: each request clears what its own choice overtook. The one before that is looked at too, in case the
 * request in between died half way. Should another item have been chosen meanwhile, this one is cleared as well: whoever
 * chose that one may have looked before this one was made the default.
 * @param clear clears one item; it accepts one that is no default, or does not exist, and spares one that carries
 *   `supersededBy` or a later choice: it was chosen again meanwhile
 */
export async function clearPreviousDefaults(
  workflow: Workflow,
  choosing: DefaultChoiceRequest,
  clear: (itemId: string, supersededBy: number) => Promise<void>,
): Promise<void> {
  const { item_id } = choosing
  const { initialState, evolve } = previousDefaultsFold(item_id)
  const choices = await latestChoices(workflow, choosing, maxChoicesRead)
  const { latest, previous_ids: former_ids } = choices.reduce(evolve, initialState)
  if (latest === null) return
  for (const id of [item_id, ...former_ids]) if (id !== latest.chosen_id) await clear(id, latest.choice)
}

async function latestChoices(
  { store }: Workflow,
  { list, owner }: DefaultChoiceRequest,
  count: number,
): Promise<Recorded<DefaultChoiceEvent>[]> {
  const events = await store.readStream(defaultChoiceStream(list, owner), { last: count })
  return events.flatMap((event) => (event.type === 'DefaultChosen' ? [event] : []))
}

// Which saved method is its owner's default.

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
  await clearPreviousDefaults(workflow, toDefaultChoiceRequest(choosing), async (id, supersededBy) => {
    await workflow.store.handle({
      stream: paymentMethodStream(id),
      fold: paymentMethodFold,
      decide(state) {
        // A method that was chosen before it turned out to be somebody else's is theirs to decide about.
        if (state.status !== 'saved' || recordedOwner(state) !== owner) return []
        const { default_choice } = state
        if (default_choice === null || default_choice >= supersededBy) return []
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
