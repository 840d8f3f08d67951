// Folds a batch of events into one change per row, so that a batch is written by two statements.
import type { ProjectedEvent, Projection, Value, Values } from './projection.ts'

/** A row as a whole, or what changes in a row that the table has already, as of a revision. */
export type RowChange = { readonly id: string; readonly revision: bigint; readonly values: Values }

export type FoldedBatch = { readonly inserts: readonly RowChange[]; readonly patches: readonly RowChange[] }

/**
 * The changes of a batch, at most one per row. Later events of a row see the earlier ones, and an event that comes a
 * second time within the batch counts once.
 */
export function foldBatch(projection: Projection, events: readonly ProjectedEvent[]): FoldedBatch {
  const inserts = new Map<string, RowChange>()
  const patches = new Map<string, RowChange>()
  for (const event of events) {
    const taken = projection.changeOf(event)
    if (taken === undefined) continue
    const { id, change } = taken
    const { revision } = event
    const inserted = inserts.get(id)
    const earlier = inserted ?? patches.get(id)
    if (earlier !== undefined && revision <= earlier.revision) continue
    if ('insert' in change) {
      inserts.set(id, { id, revision, values: change.insert })
      patches.delete(id)
    } else {
      const values = merged(projection, earlier?.values ?? {}, change.patch)
      const target = inserted === undefined ? patches : inserts
      target.set(id, { id, revision, values })
    }
  }
  return { inserts: [...inserts.values()], patches: [...patches.values()] }
}

function merged({ name, columns }: Projection, earlier: Values, patch: Partial<Values>): Values {
  const values: Record<string, Value> = { ...earlier }
  for (const [column, later] of Object.entries(patch)) {
    const merge = columns[column]?.merge
    if (merge === undefined) throw new Error(`The projection ${name} patches ${column}, which has no merge rule`)
    if (later !== undefined) values[column] = merge.inMemory(values[column], later)
  }
  return values
}
