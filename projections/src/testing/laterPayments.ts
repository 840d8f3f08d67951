// Payments as a later version of the program defines them: with one more column, which is the
// first of the view, so that the view has to be made anew.
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
    const taken = payments.changeOf(event)
    return taken && { ...taken, change: withOpener(taken.change) }
  },
}

function withOpener(change: Change<Values>): Change<Values> {
  return 'insert' in change ? { insert: { ...change.insert, opened_by: 'a payer' } } : change
}
