// Which items were chosen before a given one, as the choices of its list tell.
import type { Fold } from '../messages.ts'
import type { DefaultChoiceEvent, LatestChoice } from './events.ts'

/**
 * How far back. A request that died, or was refused because its item changed at the same moment, leaves a choice behind
 * that nobody clears for; several may follow each other when one owner changes the same items at once.
 */
const formersKept = 8

export type Formers = {
  /** The latest choice of the list, whosever it is; none before the first. */
  readonly latest: LatestChoice | null
  /** What was chosen last before the item was, the latest first, without the item itself. */
  readonly former_ids: readonly string[]
  /** The same of the latest choice, which is the item's as soon as it is chosen; the item itself may be among them. */
  readonly recent_ids: readonly string[]
}

export function formersFold(itemId: string): Fold<Formers, DefaultChoiceEvent> {
  return {
    initialState: { latest: null, former_ids: [], recent_ids: [] },
    evolve({ former_ids, recent_ids }, { data: { choice, chosen_id } }) {
      const others = recent_ids.filter((id) => id !== chosen_id)
      return {
        latest: { choice, chosen_id },
        former_ids: chosen_id === itemId ? others.slice(0, formersKept) : former_ids,
        recent_ids: [chosen_id, ...others].slice(0, formersKept + 1),
      }
    },
  }
}
