// An owner's default payment method, or default address of one type. The choices of a list are in one stream, so that
// concurrent choices have an order.
import { type Static, Type } from 'typebox'
import type { EventsOf, Fold } from './events.ts'
import { Id, Instant } from './fields.ts'

/**
 * The number of a choice within its list, from 0. The item with the highest number is the default. An item with a lower one
 * no longer is, even if its own stream does not record that yet.
 */
export const DefaultChoice = Type.Integer({ minimum: 0 })
export type DefaultChoice = Static<typeof DefaultChoice>

/** An owner has one default per list. */
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

/** Chooses an item as the default. Choosing the current default again records nothing. */
export function chooseDefault(
  command: { readonly list: DefaultsList; readonly chosen_id: string; readonly occurred_at: string },
  latest: LatestChoice | null,
): DefaultChoiceEvent[] {
  if (latest?.chosen_id === command.chosen_id) return []
  return [{ type: 'DefaultChosen', data: { ...command, choice: latest === null ? 0 : latest.choice + 1 } }]
}

/** Whether an item has to record a choice: not if it has a later one, or is the default by this one. */
export function isNewChoice(
  choice: DefaultChoice,
  item: { readonly is_default: boolean; readonly default_choice: DefaultChoice | null },
): boolean {
  if (item.default_choice === null || choice > item.default_choice) return true
  return choice === item.default_choice && !item.is_default
}

/**
 * How many earlier defaults we remember. A request that crashed, or failed because its item changed concurrently, leaves a
 * choice whose predecessor was never cleared. Several of these may follow each other.
 */
const previousKept = 8

export type PreviousDefaults = {
  /** The latest choice of the list, of any item; null before the first. */
  readonly latest: LatestChoice | null
  /** The items chosen before this item was, latest first, without the item. */
  readonly previous_ids: readonly string[]
  /** The items chosen most recently, latest first; the item may be among them. */
  readonly recent_ids: readonly string[]
}

/** Folds the choices of a list into the items that were the default before a given item. */
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
