// The projection of defaults: one row for each list, with the item that is its default.
import { type DefaultChoiceEvent, type DefaultsList, defaultChoiceEvents } from '@paylog/domain/defaultChoice'
import { defineProjection, latest, type TableSql } from '../projection.ts'

const create = (table: string) => `
  create table ${table} (
    id uuid primary key,
    revision bigint not null,
    list text not null,
    chosen_id text
  ) with (fillfactor = 85)`

const indexes = (table: string) => `
  -- Each item of a list's response is looked up.
  create index if not exists ${table}_by_item on ${table} (chosen_id);`

const view = (table: string) => `select id, revision, list, chosen_id from ${table}`

const defaultsTable: TableSql = { create, indexes, view }

export type DefaultRow = { readonly list: DefaultsList; readonly chosen_id: string | null }

export const defaults = defineProjection<DefaultChoiceEvent, DefaultRow>({
  name: 'defaults',
  schemaVersion: 1,
  streamPrefixes: ['defaultChoice-'],
  table: defaultsTable,
  columns: { list: { type: 'text', merge: latest }, chosen_id: { type: 'text', merge: latest } },
  idOf: ({ data }) => data.list_id,
  events: defaultChoiceEvents,
  on: {
    DefaultChosen: ({ data: { list, chosen_id } }) => ({ insert: { list, chosen_id } }),
    DefaultCleared: () => ({ patch: { chosen_id: null } }),
  },
})
