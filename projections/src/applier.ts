// The one place where events become rows: a batch and its checkpoint are one transaction.
import type { Pool, PoolClient } from 'pg'
import { foldBatch } from './batch.ts'
import { checkpointName, claimCheckpoint, isAfter, moveCheckpoint, type Position } from './checkpoints.ts'
import type { ProjectedEvent, Projection } from './projection.ts'
import { createStatements } from './statements.ts'

export type Applier = {
  /** Where to read on: after this position, or from the start of the log. */
  start(): Promise<Position | undefined>
  /**
   * Writes what a batch changes, and that it was read, in one transaction. A batch that was read before changes nothing.
   * @throws Error when the database fails or another runner has moved the checkpoint; `start` again then.
   */
  apply(batch: { readonly events: readonly ProjectedEvent[]; readonly position: Position }): Promise<void>
}

/**
 * @param options `version` selects the table and the checkpoint; a rebuild fills another one than the live version's
 */
export function createApplier(options: {
  readonly pool: Pool
  readonly projection: Projection
  readonly version: number
}): Applier {
  const { pool, projection, version } = options
  const name = checkpointName(projection, version)
  const statements = createStatements(projection, version)
  let reached: Position | undefined

  return {
    async start() {
      reached = (await claimCheckpoint(pool, name)).position
      return reached
    },
    async apply({ events, position }) {
      if (reached !== undefined && !isAfter(position, reached)) return
      const { inserts, patches } = foldBatch(projection, events)
      await inTransaction(pool, async (client) => {
        // First, so that a stale runner fails before it writes anything, and two of them never wait for each other's rows.
        await moveCheckpoint(client, name, reached, position)
        if (inserts.length > 0) await client.query(statements.insert(inserts))
        if (patches.length > 0) await client.query(statements.patch(patches))
      })
      reached = position
    },
  }
}

async function inTransaction(pool: Pool, write: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await write(client)
    await client.query('commit')
  } catch (error) {
    // Whatever state the connection is in, closing it rolls back.
    client.release(true)
    throw error
  }
  client.release()
}
