// The database of the read models.
import type { Writable } from 'node:stream'
import { replayConnections } from '@paylog/projections/rebuild/replay'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { OpsError } from '../command.ts'
import { opsPool, type Pool } from '../database.ts'

export type ReadModels = { readonly databaseUrl: string; readonly pool: Pool; readonly log: Logger }

/**
 * Runs `work` with the database of the read models.
 * @throws OpsError when its tables have another version; errors of `work` and of the database
 */
export async function withReadModels<Result>(
  databaseUrl: string,
  errors: Writable,
  work: (readModels: ReadModels) => Promise<Result>,
): Promise<Result> {
  // Connection problems also fail the work. They must not be logged between lines of progress.
  const { pool, log } = opsPool(databaseUrl, { max: replayConnections, errors, level: 'fatal' })
  try {
    const { rows } = await pool.query<{ ready: boolean }>(
      "select to_regclass('read_models.tables') is not null as ready",
    )
    if (rows[0]?.ready !== true)
      throw new OpsError(
        'The read model tables of this database have another version: run `npm run -s ops -- migrate` first',
      )
    return await work({ databaseUrl, pool, log })
  } finally {
    await pool.end()
  }
}
