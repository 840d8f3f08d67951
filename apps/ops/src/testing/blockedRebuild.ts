// Rebuilds that stand still at a chosen step, because the test holds a lock of the database.
import { waitFor } from '@paylog/testing/waitFor'
import type { projectionsHarness } from './projectionsRig.ts'
import type { RunningCommand } from './runOps.ts'

type Harness = Awaited<ReturnType<typeof projectionsHarness>>

/** Until a statement of the command line with these words waits for a lock. */
export async function waitUntilBlocked(harness: Harness, words: string): Promise<void> {
  await waitFor(
    async () => {
      const { rows } = await harness.pool.query<{ query: string }>(
        `select query from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and application_name = 'paylog ops'`,
      )
      return rows.some(({ query }) => query.includes(words))
    },
    { what: `a statement with ${words} that waits` },
  )
}

/** Begins to rebuild the addresses, up to where the indexes of the new table are made. */
export async function rebuildUpToIndexes(
  harness: Harness,
): Promise<{ readonly command: RunningCommand; readonly building: string; readonly release: () => Promise<void> }> {
  const live = await harness.live('addresses')
  const releaseLive = await harness.hold(`lock table read_models.${live} in access exclusive mode`)
  const command = harness.start(['rebuild', 'addresses'])
  await waitUntilBlocked(harness, live)
  const building = (await harness.tables('addresses')).find((table) => table.endsWith(' building'))?.split(' ')[0] ?? ''
  const release = await harness.hold(`lock table read_models.${building} in row exclusive mode`)
  await releaseLive()
  await waitUntilBlocked(harness, `${building}_`)
  return { command, building, release }
}
