// One default per owner and list, across streams that cannot be written together. The choice itself is one append to a
// stream of the list's own; the items follow, and carry its number.
import { chooseDefault, type DefaultsList, defaultChoiceFold, type LatestChoice } from '@paylog/domain/defaults/events'
import { formersFold } from '@paylog/domain/defaults/formers'
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
    decide: (latest: LatestChoice | null) =>
      chooseDefault({ list, chosen_id, occurred_at: now().toISOString() }, latest),
    metadata,
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
 *   `overtakenBy` or a later choice: it was chosen again meanwhile
 */
export async function clearFormer(
  { store }: Workflow,
  { list, owner, item_id }: Choosing,
  clear: (itemId: string, overtakenBy: number) => Promise<void>,
): Promise<void> {
  const { state } = await store.load(defaultChoiceStream(list, owner), formersFold(item_id))
  const { latest, former_ids } = state
  if (latest === null) return
  for (const id of [item_id, ...former_ids]) if (id !== latest.chosen_id) await clear(id, latest.choice)
}
