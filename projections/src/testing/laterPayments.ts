// Payments in a later version of the program: an additional first column forces a new view.
import { payments } from '../payments/projection.ts'
import type { Change, Projection, Values } from '../projection.ts'

const { create, indexes, view } = payments.table

export const laterPayments: Projection = {
  ...payments,
  schemaVersion: payments.schemaVersion + 1,
  table: {
    create: (table) => create(table).replace('revision bigint not null,', 'revision bigint not null, opened_by text,'),
    indexes,
    view: (table) => view(table).replace('select', 'select opened_by,'),
  },
  columns: { ...payments.columns, opened_by: { type: 'text' } },
  changeOf(event) {
    const mapped = payments.changeOf(event)
    return mapped && { ...mapped, change: withOpener(mapped.change) }
  },
}

function withOpener(change: Change<Values>): Change<Values> {
  return 'insert' in change ? { insert: { ...change.insert, opened_by: 'a payer' } } : change
}
