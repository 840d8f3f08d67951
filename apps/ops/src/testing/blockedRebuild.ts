// Rebuilds that stand still at a chosen step, because the test holds a lock of the database.
import { waitFor } from '@paylog/testing/waitFor'
import type { startProjectionsRig } from './projectionsRig.ts'
import type { RunningCommand } from './runOps.ts'

type Rig = Awaited<ReturnType<typeof startProjectionsRig>>

/** Until a statement of the command line with these words waits for a lock. */
export async function blockedAt(rig: Rig, words: string): Promise<void> {
  await waitFor(
    async () => {
      const { rows } = await rig.pool.query<{ query: string }>(
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
  rig: Rig,
): Promise<{ readonly command: RunningCommand; readonly building: string; readonly release: () => Promise<void> }> {
  const live = await rig.live('addresses')
  const releaseLive = await rig.hold(`lock table read_models.${live} in access exclusive mode`)
  const command = rig.start(['rebuild', 'addresses'])
  await blockedAt(rig, live)
  const building = (await rig.tables('addresses')).find((table) => table.endsWith(' building'))?.split(' ')[0] ?? ''
  const release = await rig.hold(`lock table read_models.${building} in row exclusive mode`)
  await releaseLive()
  await blockedAt(rig, `${building}_`)
  return { command, building, release }
}
