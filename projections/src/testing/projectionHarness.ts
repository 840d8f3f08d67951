// Databases with the read models' tables, and logs applied to them.

import { migrate } from '@paylog/runtime/postgres/migrate'
import { createPool } from '@paylog/runtime/postgres/pool'
import { createLog } from '@paylog/runtime/telemetry/log'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import type { Pool } from 'pg'
import file, { type Test } from 'tap'
import { createApplier } from '../apply/applier.ts'
import type { Projection } from '../projection.ts'
import { readModelMigrations } from '../registry.ts'
import type { LogFixture } from './logFixture.ts'

/** The database of a finished test of this file, for reuse. */
let spare: string | undefined

/**
 * A migrated database for one test file or test, and a pool that is closed at its end. Consecutive tests reuse the database
 * with recreated schemas, which is several times faster than a new one.
 */
export async function readModelDatabase(t: Test): Promise<{ databaseUrl: string; pool: Pool }> {
  const reused = spare
  spare = undefined
  const databaseUrl = reused ?? (await createTestDatabase(file)).databaseUrl
  const log = createLog({ app: 'test', level: 'silent' })
  const pool = createPool({ databaseUrl, applicationName: 'test', max: 8, log })
  t.teardown(async () => {
    await pool.end()
    // Keep the database of a failed test for inspection.
    if (t.passing()) spare = databaseUrl
  })
  if (reused !== undefined) await pool.query('drop schema if exists read_models, webhooks, audit cascade')
  await migrate(pool, readModelMigrations)
  return { databaseUrl, pool }
}

/** Applies the whole log to the first table, in batches of these sizes, repeated in order. */
export async function applyInBatches(
  pool: Pool,
  projection: Projection,
  log: LogFixture,
  sizes: readonly number[] = [500],
): Promise<void> {
  const applier = createApplier({ pool, projection, version: 1, source: log })
  await applier.start()
  for (let from = 0, turn = 0; from < log.events.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    await applier.apply(log.batch(from, from + size))
    from += size
  }
}

/** Applies the log once more from its start, like after a checkpoint reset. */
export async function reapply(...args: Parameters<typeof applyInBatches>): Promise<void> {
  const [pool] = args
  await resetCheckpoints(pool)
  await applyInBatches(...args)
}

/** Resets every checkpoint to the start of the log. */
export async function resetCheckpoints(pool: Pool): Promise<void> {
  await pool.query(
    'update read_models.checkpoints set commit_position = null, prepare_position = null, event_id = null',
  )
}
