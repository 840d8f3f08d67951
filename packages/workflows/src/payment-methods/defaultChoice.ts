// Keeps one default per owner and list, although each item has its own stream. A choice is a numbered event in the list's
// stream; the items then record the number, and the item with the highest number is the default.

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

export type MethodChoiceRequest = {
  readonly payment_method_id: string
  /** See `ownerOf`. */
  readonly owner: string
  readonly metadata: EventMetadata
}

/** Enough to find an item chosen just now and the defaults before it, without reading a long list's whole stream. */
const maxChoicesRead = 100

/**
 * Records the choice of an item. The caller then records the number in the item.
 * @returns the number of the choice
 * @throws DomainError `event_store_unavailable`
 */
export async function chooseDefaultItem(workflow: Workflow, request: DefaultChoiceRequest): Promise<number> {
  const { store, now } = workflow
  const { list, owner, item_id: chosen_id, metadata } = request
  const [last] = await latestChoices(workflow, request, 1)
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
  if (state === null) throw new Error('the recorded choice is missing')
  return state.choice
}

/**
 * Clears the previous default, after the chosen item has recorded its number. That is the item chosen before this one, even
 * if others were chosen since: each request clears the default that it replaced. Also clears the item before that one, in
 * case the request in between crashed. If another item was chosen meanwhile, clears this one too, because the other request
 * may have looked before this item became the default.
 * @param clear clears one item. It must accept an item that is not the default or does not exist, and must not clear an item
 *   with the choice `supersededBy` or a later one, which was chosen again meanwhile
 */
export async function clearPreviousDefaults(
  workflow: Workflow,
  request: DefaultChoiceRequest,
  clear: (itemId: string, supersededBy: number) => Promise<void>,
): Promise<void> {
  const { item_id } = request
  const { initialState, evolve } = previousDefaultsFold(item_id)
  const choices = await latestChoices(workflow, request, maxChoicesRead)
  const { latest, previous_ids } = choices.reduce(evolve, initialState)
  if (latest === null) return
  for (const id of [item_id, ...previous_ids]) if (id !== latest.chosen_id) await clear(id, latest.choice)
}

/** `chooseDefaultItem` for a payment method. */
export function chooseDefaultMethod(workflow: Workflow, request: MethodChoiceRequest): Promise<number> {
  return chooseDefaultItem(workflow, toDefaultChoiceRequest(request))
}

/** `clearPreviousDefaults` for a payment method. */
export async function clearPreviousDefaultMethods(workflow: Workflow, request: MethodChoiceRequest): Promise<void> {
  const { owner, metadata } = request
  await clearPreviousDefaults(workflow, toDefaultChoiceRequest(request), async (id, supersededBy) => {
    await workflow.store.handle({
      stream: paymentMethodStream(id),
      fold: paymentMethodFold,
      decide(state) {
        // The method may belong to another owner by now.
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
 * Clears the defaults that a removed method had replaced, before it is added again. Adding it resets its number, and an older
 * default must not become the default again.
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

async function latestChoices(
  { store }: Workflow,
  { list, owner }: DefaultChoiceRequest,
  count: number,
): Promise<Recorded<DefaultChoiceEvent>[]> {
  const events = await store.readStream(defaultChoiceStream(list, owner), { last: count })
  return events.flatMap((event) => (event.type === 'DefaultChosen' ? [event] : []))
}

function toDefaultChoiceRequest({
  owner,
  payment_method_id: item_id,
  metadata,
}: MethodChoiceRequest): DefaultChoiceRequest {
  return { list: 'payment_methods', owner, item_id, metadata }
}
