// Which of an owner's methods, or addresses of one type, is the default. The choices of one list stand in one stream, so
// that there is an order among them whatever happens at the same time.
import { type Static, Type } from 'typebox'
import type { EventsOf, Fold } from './events.ts'
import { Id, Instant } from './fields.ts'

/**
 * The number of a choice within its list, from 0. The item that carries the highest number is the one that was chosen last;
 * an item with a lower one is the default no more, even while its own stream does not say so yet.
 */
export const DefaultChoice = Type.Integer({ minimum: 0 })
export type DefaultChoice = Static<typeof DefaultChoice>

/** Within which an owner has one default. */
export const DefaultsList = Type.Union([
  Type.Literal('payment_methods'),
  Type.Literal('billing_addresses'),
  Type.Literal('shipping_addresses'),
])
export type DefaultsList = Static<typeof DefaultsList>

export const defaultChoiceEvents = {
  DefaultChosen: Type.Object({ list: DefaultsList, chosen_id: Id, choice: DefaultChoice, occurred_at: Instant }),
}
export type DefaultChoiceEvent = EventsOf<typeof defaultChoiceEvents>

/** The latest choice of a list; none before the first. */
export type LatestChoice = { readonly choice: DefaultChoice; readonly chosen_id: string }

export const defaultChoiceFold: Fold<LatestChoice | null, DefaultChoiceEvent> = {
  initialState: null,
  evolve: (_latest, { data: { choice, chosen_id } }) => ({ choice, chosen_id }),
}

/** Chooses an item. One that is chosen already keeps its choice. */
export function chooseDefault(
  command: { readonly list: DefaultsList; readonly chosen_id: string; readonly occurred_at: string },
  latest: LatestChoice | null,
): DefaultChoiceEvent[] {
  if (latest?.chosen_id === command.chosen_id) return []
  return [{ type: 'DefaultChosen', data: { ...command, choice: latest === null ? 0 : latest.choice + 1 } }]
}

/** Whether an item has to be told of a choice. One that carries a later choice keeps it: this one comes late. */
export function isNewChoice(
  choice: DefaultChoice,
  item: { readonly is_default: boolean; readonly default_choice: DefaultChoice | null },
): boolean {
  if (item.default_choice === null || choice > item.default_choice) return true
  return choice === item.default_choice && !item.is_default
}

// Which items were chosen before a given one, as the choices of its list tell.

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
