// Projections in a later version of the program.
import type { Change, Projection, Values } from '../projection.ts'

/** With an additional first column, which forces a new view. */
export function laterVersionOf(projection: Projection): Projection {
  const { create, indexes, view } = projection.table
  return {
    ...projection,
    schemaVersion: projection.schemaVersion + 1,
    table: {
      create: (table) => create(table).replace('revision bigint not null,', 'revision bigint not null, made_by text,'),
      indexes,
      view: (table) => view(table).replace('select', 'select made_by,'),
    },
    columns: { ...projection.columns, made_by: { type: 'text' } },
    changeOf(event) {
      const mapped = projection.changeOf(event)
      return mapped && { ...mapped, change: withMaker(mapped.change) }
    },
  }
}

function withMaker(change: Change<Values>): Change<Values> {
  return 'insert' in change ? { insert: { ...change.insert, made_by: 'somebody' } } : change
}
