// Folds a batch of events into one change per row, so that two statements write a batch.
import type { Value, Values } from '../columns.ts'
import type { ProjectedEvent, Projection } from '../projection.ts'

/** Changes of an existing row, up to a revision. */
export type RowChange = {
  readonly id: string
  readonly revision: bigint
  readonly values: Values
}

/** A whole row. */
export type RowInsert = RowChange & {
  /** Whether the row starts with its stream, so no table without these events can have it. */
  readonly begins: boolean
}

export type FoldedBatch = { readonly inserts: readonly RowInsert[]; readonly patches: readonly RowChange[] }

/** A row during folding. Its values are a copy and may be changed in place. */
type MutableRow<Row extends RowChange> = Omit<Row, 'revision' | 'values'> & {
  revision: bigint
  readonly values: Record<string, Value>
}

/**
 * Folds a batch into at most one change per row. Later events see the changes of earlier ones, and a repeated event counts
 * once.
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
      const values = { ...change.insert, ...mergedValues(projection, earlier, change.insert) }
      inserts.set(id, { id, revision, values, begins: revision === 0n })
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

/** The values of an insert that merge with those of an earlier change. */
function mergedValues({ columns }: Projection, earlier: RowChange | undefined, later: Values): Values {
  if (earlier === undefined) return {}
  return Object.fromEntries(
    Object.entries(earlier.values).flatMap(([name, value]) => {
      const { isMerged, merge } = columns[name] ?? {}
      return isMerged && merge ? [[name, merge.inMemory(value, later[name] ?? null)]] : []
    }),
  )
}

function merge({ name, columns }: Projection, values: Record<string, Value>, patch: Partial<Values>): void {
  for (const column of Object.keys(patch)) {
    const merge = columns[column]?.merge
    if (merge === undefined) throw new Error(`The projection ${name} patches ${column}, which has no merge rule`)
    const later = patch[column]
    if (later !== undefined) values[column] = merge.inMemory(values[column], later)
  }
}
