// Which items were chosen before a given one, as the choices of its list tell.
import type { Fold } from '../messages.ts'
import type { DefaultChoiceEvent, LatestChoice } from './events.ts'

/**
 * How far back. A request that died, or was refused because its item changed at the same moment, leaves a choice behind
 * that nobody clears for; several may follow each other when one owner changes the same items at once.
 */
const previousKept = 8

export type PreviousDefaults = {
  /** The latest choice of the list, whosever it is; none before the first. */
  readonly latest: LatestChoice | null
  /** What was chosen last before the item was, the latest first, without the item itself. */
  readonly previous_ids: readonly string[]
  /** The same of the latest choice, which is the item's as soon as it is chosen; the item itself may be among them. */
  readonly recent_ids: readonly string[]
}

export function previousDefaultsFold(itemId: string): Fold<PreviousDefaults, DefaultChoiceEvent> {
  return {
    initialState: { latest: null, previous_ids: [], recent_ids: [] },
    evolve({ previous_ids, recent_ids }, { data: { choice, chosen_id } }) {
      const others = recent_ids.filter((id) => id !== chosen_id)
      return {
        latest: { choice, chosen_id },
        previous_ids: chosen_id === itemId ? others.slice(0, previousKept) : previous_ids,
        recent_ids: [chosen_id, ...others].slice(0, previousKept + 1),
      }
    },
  }
}
