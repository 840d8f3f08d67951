// Lets waiting reads notify the projector. A projection moves its checkpoint past other events only occasionally, so
// the checkpoint may stay behind the end of the log although nothing is left to apply.
import type { Pool } from 'pg'

/** The Postgres channel with the names of projections that reads wait for. */
export const waitingReadsChannel = 'awaited_reads'

/** Notifies the projectors that reads wait for these projections. Delivery is not guaranteed. */
export async function notifyWaitingReads(db: Pick<Pool, 'query'>, projectionNames: readonly string[]): Promise<void> {
  await db.query({
    name: 'announce wait',
    text: 'select pg_notify($1, name) from unnest($2::text[]) as name',
    values: [waitingReadsChannel, projectionNames],
  })
}
