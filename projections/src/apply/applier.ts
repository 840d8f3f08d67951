// Writes a batch of events to the read model, in one transaction with its checkpoint.
import { isAfter, type LogCheckpoint } from '@paylog/domain/events'
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import type { ClientBase, Pool } from 'pg'
import type { ProjectedEvent, Projection } from '../projection.ts'
import { foldBatch } from './batch.ts'
import { checkpointName, moveCheckpoint, readCheckpoint } from './checkpoints.ts'
import { type ErasureSource, erasedKeysIn, replaceErasedRows } from './erasing.ts'
import { type RowWriter, upsertRows } from './writers.ts'

export type ProjectionBatch = { readonly events: readonly ProjectedEvent[]; readonly position: LogCheckpoint }

export type Applier = {
  /**
   * The position to continue after; `undefined` means the start of the log.
   * @throws CheckpointLostError when the table is no longer kept up to date
   */
  start(): Promise<LogCheckpoint | undefined>
  /**
   * Writes the changes of a batch and its checkpoint in one transaction. A repeated batch changes nothing. After an erasure
   * in the batch, the table is as if the erased values had never been in it.
   * @throws CheckpointLostError when another process moved the checkpoint, or the table is no longer kept up to date;
   *   Error when the database fails: call `start` again
   */
  apply(batch: ProjectionBatch): Promise<void>
}

/**
 * @param options `version` selects table and checkpoint; `source` is the log that the batches come from; `writer` writes the
 *   rows, by default `upsertRows`; `begin` starts the transaction with its settings
 */
export function createApplier(options: {
  readonly pool: Pool
  readonly projection: Projection
  readonly version: number
  readonly source: ErasureSource
  readonly writer?: (projection: Projection, version: number) => RowWriter
  readonly begin?: string
}): Applier {
  const { pool, projection, version, source } = options
  const name = checkpointName(projection, version)
  const write = (options.writer ?? upsertRows)(projection, version)
  let reached: LogCheckpoint | undefined

  return {
    async start() {
      reached = (await readCheckpoint(pool, name)).position
      return reached
    },
    async apply({ events, position }) {
      if (reached !== undefined && !isAfter(position, reached)) return
      const folded = foldBatch(projection, events)
      const keys = erasedKeysIn(projection, events)
      // Before streams are read again. The events of this batch were read earlier, so their rows are replaced too.
      if (keys !== undefined) await source.destroyKeys(keys.all)
      const work = async (client: ClientBase) => {
        // First, so that a stale applier fails before it writes, and two appliers never wait for each other's rows.
        await moveCheckpoint(client, name, reached, position)
        await write(client, folded)
        if (keys !== undefined) await replaceErasedRows(client, { projection, version, keys, position, source, write })
      }
      await inTransaction(pool, work, options.begin)
      reached = position
    },
  }
}
