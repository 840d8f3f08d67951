// The default of a list: an owner's default payment method, or default address of one type. Each list has a stream, so a
// change of the default is one append, and concurrent changes have an order.
import { type Static, Type } from 'typebox'
import type { EventsOf, Fold } from './events.ts'
import { Id, Instant } from './fields.ts'

/** An owner has one default per list. */
export const DefaultsList = Type.Enum(['payment_methods', 'billing_addresses', 'shipping_addresses'])
export type DefaultsList = Static<typeof DefaultsList>

/** `list_id` is derived from the list and its owner. */
const facts = { list_id: Id, list: DefaultsList, occurred_at: Instant }

export const defaultChoiceEvents = {
  /** Replaces the previous default. */
  DefaultChosen: Type.Object({ ...facts, chosen_id: Id }),
  /** The list has no default now. */
  DefaultCleared: Type.Object(facts),
}
export type DefaultChoiceEvent = EventsOf<typeof defaultChoiceEvents>

/** Folds to the id of the default item; null if there is none. The last event alone gives the same state. */
export const defaultChoiceFold: Fold<string | null, DefaultChoiceEvent> = {
  initialState: null,
  evolve: (_previous, event) => (event.type === 'DefaultChosen' ? event.data.chosen_id : null),
}

export type SetDefault = Static<typeof defaultChoiceEvents.DefaultChosen> & {
  /** False ends that this item is the default; another item's default stays. */
  readonly is_default: boolean
}

/** Makes an item the default or ends that it is. Records nothing when that is so already. */
export function setDefault({ is_default, ...chosen }: SetDefault, current: string | null): DefaultChoiceEvent[] {
  const { chosen_id, ...facts } = chosen
  if (is_default === (current === chosen_id)) return []
  return [is_default ? { type: 'DefaultChosen', data: chosen } : { type: 'DefaultCleared', data: facts }]
}
