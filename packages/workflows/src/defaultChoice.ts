// One default per owner and list, across streams that cannot be written together. The choice itself is one append to a
// stream of the list's own; the items follow, and carry its number.
import { type Choices, chooseDefault, type DefaultsList, defaultChoiceFold } from '@paylog/domain/defaults/events'
import type { EventMetadata } from '@paylog/domain/messages'
import { defaultChoiceStream } from '@paylog/event-store/streamName'
import type { Workflow } from './context.ts'

export type Choosing = {
  readonly list: DefaultsList
  /** See `ownerOf`. */
  readonly owner: string
  readonly item_id: string
  readonly metadata: EventMetadata
}

/**
 * Chooses an item, before it carries the choice's number.
 * @returns the number
 * @throws DomainError `event_store_unavailable`
 */
export async function chooseItem({ store, now }: Workflow, choosing: Choosing): Promise<number> {
  const { list, owner, item_id: chosen_id, metadata } = choosing
  const { state } = await store.handle({
    stream: defaultChoiceStream(list, owner),
    fold: defaultChoiceFold,
    decide: (choices: Choices | null) => chooseDefault({ list, chosen_id, occurred_at: now().toISOString() }, choices),
    metadata,
  })
  if (state === null) throw new Error('A choice was made and is not there')
  return state.choice
}

/**
 * Has the former default cleared, once the chosen item carries its number. Should another item have been chosen meanwhile,
 * it is this one that is cleared: whoever chose that one may have looked before this one was made the default.
 * @param clear clears one item; it accepts one that is no default, or does not exist
 */
export async function clearFormer(
  { store }: Workflow,
  { list, owner, item_id }: Choosing,
  clear: (itemId: string) => Promise<void>,
): Promise<void> {
  const { state } = await store.load(defaultChoiceStream(list, owner), defaultChoiceFold)
  const former = state?.chosen_id === item_id ? state.previous_id : item_id
  if (former !== null) await clear(former)
}
