// What a read that waits has to say to the projector: that it waits. A projection is told of events that are not for it only
// now and then, so its checkpoint may stay behind the end of the log although there is nothing left to do.
import type { Pool } from 'pg'

/** The channel on which the names of projections are told that a read waits for. */
export const waitingReadsChannel = 'awaited_reads'

/** Says that reads wait for these projections. Whether anybody hears it is not known. */
export async function notifyWaitingReads(db: Pick<Pool, 'query'>, projectionNames: readonly string[]): Promise<void> {
  await db.query({
    name: 'announce wait',
    text: 'select pg_notify($1, name) from unnest($2::text[]) as name',
    values: [waitingReadsChannel, projectionNames],
  })
}
