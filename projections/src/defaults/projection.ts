// The projection of defaults: one row for each list, with the item that is its default.
import { type DefaultsList, defaultChoiceEvents } from '@paylog/domain/defaultChoice'
import { latest, nullable, text, textOf } from '../columns.ts'
import { defineProjection } from '../projection.ts'

export const defaults = defineProjection({
  name: 'defaults',
  schemaVersion: 1,
  streamPrefix: 'defaultChoice-',
  columns: { list: latest(textOf<DefaultsList>()), chosen_id: latest(nullable(text)) },
  // Each item of a list's response is looked up.
  indexes: (table) => `create index if not exists ${table}_by_item on ${table} (chosen_id)`,
  idOf: ({ data }) => data.list_id,
  events: defaultChoiceEvents,
  on: {
    DefaultChosen: ({ data: { list, chosen_id } }) => ({ insert: { list, chosen_id } }),
    DefaultCleared: () => ({ patch: { chosen_id: null } }),
  },
})
