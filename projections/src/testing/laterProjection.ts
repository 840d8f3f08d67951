// Projections in a later version of the program.
import { nullable, text, type Values } from '../columns.ts'
import type { Change, Projection } from '../projection.ts'

/** With an additional first column, which forces a new view. */
export function laterVersionOf(projection: Projection): Projection {
  return {
    ...projection,
    schemaVersion: projection.schemaVersion + 1,
    columns: { made_by: nullable(text), ...projection.columns },
    changeOf(event) {
      const mapped = projection.changeOf(event)
      return mapped && { ...mapped, change: withMaker(mapped.change) }
    },
  }
}

function withMaker(change: Change<Values>): Change<Values> {
  return 'insert' in change ? { insert: { ...change.insert, made_by: 'somebody' } } : change
}
