// A log applied as a projector would, in pieces of any size.
import type { Pool } from 'pg'
import { createApplier } from '../apply/applier.ts'
import type { Projection } from '../projection.ts'
import type { LogFixture } from './testEvents.ts'

/** Applies the whole log to the first table, in batches of these sizes, in turn. */
export async function applyInBatches(
  pool: Pool,
  projection: Projection,
  log: LogFixture,
  sizes: readonly number[] = [500],
): Promise<void> {
  const applier = createApplier({ pool, projection, version: 1 })
  await applier.start()
  for (let from = 0, turn = 0; from < log.events.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    await applier.apply(log.batch(from, from + size))
    from += size
  }
}

/** The same once more from the start of the log, as after a checkpoint was put back. */
export async function reapply(...args: Parameters<typeof applyInBatches>): Promise<void> {
  const [pool] = args
  await resetCheckpoints(pool)
  await applyInBatches(...args)
}

/** Puts every checkpoint back to the start of the log. */
export async function resetCheckpoints(pool: Pool): Promise<void> {
  await pool.query('update read_models.checkpoints set commit_position = null, prepare_position = null')
}
