// Folds a batch of events into one change per row, so that a batch is written by two statements.
import type { ProjectedEvent, Projection, Value, Values } from '../projection.ts'

/** What changes in a row that the table has already, as of a revision. */
export type RowChange = {
  readonly id: string
  readonly revision: bigint
  readonly values: Values
}

/** A row as a whole. */
export type RowInsert = RowChange & {
  /** Whether the row begins with its stream, so that no table can have it yet that has not read so far. */
  readonly begins: boolean
}

export type FoldedBatch = { readonly inserts: readonly RowInsert[]; readonly patches: readonly RowChange[] }

/** A row while the events of the batch come to it. Each has its values to itself, so that they can be changed in place. */
type MutableRow<Row extends RowChange> = Omit<Row, 'revision' | 'values'> & {
  revision: bigint
  readonly values: Record<string, Value>
}

/**
 * The changes of a batch, at most one per row. Later events of a row see the earlier ones, and an event that comes a
 * second time within the batch counts once.
 */
export function foldBatch(projection: Projection, events: readonly ProjectedEvent[]): FoldedBatch {
  const inserts = new Map<string, MutableRow<RowInsert>>()
  const patches = new Map<string, MutableRow<RowChange>>()
  for (const event of events) {
    const rowChange = projection.changeOf(event)
    if (rowChange === undefined) continue
    const { id, change } = rowChange
    const { revision } = event
    const earlier = inserts.get(id) ?? patches.get(id)
    if (earlier !== undefined && revision <= earlier.revision) continue
    if ('insert' in change) {
      inserts.set(id, { id, revision, values: { ...change.insert }, begins: revision === 0n })
      patches.delete(id)
    } else if (earlier === undefined) {
      const values = {}
      merge(projection, values, change.patch)
      patches.set(id, { id, revision, values })
    } else {
      merge(projection, earlier.values, change.patch)
      earlier.revision = revision
    }
  }
  return { inserts: [...inserts.values()], patches: [...patches.values()] }
}

function merge({ name, columns }: Projection, values: Record<string, Value>, patch: Partial<Values>): void {
  for (const column of Object.keys(patch)) {
    const merge = columns[column]?.merge
    if (merge === undefined) throw new Error(`The projection ${name} patches ${column}, which has no merge rule`)
    const later = patch[column]
    if (later !== undefined) values[column] = merge.inMemory(values[column], later)
  }
}
