// The one place where events become rows: a batch and its checkpoint are one transaction.
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { ClientBase, Pool } from 'pg'
import type { ProjectedEvent, Projection } from '../projection.ts'
import { foldBatch } from './batch.ts'
import { checkpointName, moveCheckpoint, readCheckpoint } from './checkpoints.ts'
import { inTransaction } from './transaction.ts'
import { type RowWriter, upsertRows } from './writers.ts'

export type ProjectionBatch = { readonly events: readonly ProjectedEvent[]; readonly position: LogPosition }

export type Applier = {
  /**
   * Where to read on: after this position, or from the start of the log.
   * @throws CheckpointLostError when the table is not kept up any more
   */
  start(): Promise<LogPosition | undefined>
  /**
   * Writes what a batch changes, and that it was read, in one transaction. A batch that was read before changes nothing.
   * @throws CheckpointLostError when another runner has moved the checkpoint, or the table is not kept up any more;
   *   Error when the database fails; `start` again then
   */
  apply(batch: ProjectionBatch): Promise<void>
}

/**
 * @param options `version` selects the table and the checkpoint; `writer` is how rows get there: `upsertRows` unless told
 *   otherwise; `begin` begins a transaction, and sets what is special for it
 */
export function createApplier(options: {
  readonly pool: Pool
  readonly projection: Projection
  readonly version: number
  readonly writer?: (projection: Projection, version: number) => RowWriter
  readonly begin?: string
}): Applier {
  const { pool, projection, version } = options
  const name = checkpointName(projection, version)
  const write = (options.writer ?? upsertRows)(projection, version)
  let reached: LogPosition | undefined

  return {
    async start() {
      reached = (await readCheckpoint(pool, name)).position
      return reached
    },
    async apply({ events, position }) {
      if (reached !== undefined && !isAfter(position, reached)) return
      const folded = foldBatch(projection, events)
      const work = async (client: ClientBase) => {
        // First, so that a stale runner fails before it writes anything, and two of them never wait for each other's rows.
        await moveCheckpoint(client, name, reached, position)
        await write(client, folded)
      }
      await inTransaction(pool, work, options.begin)
      reached = position
    },
  }
}
