// Decides where the worker goes on in the log, on behalf of an operator.
import type { LogCheckpoint } from '@paylog/domain/events'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Pool } from 'pg'
import { isErasure } from '../dispatch/erasures.ts'
import { emptyDeliveries } from '../tables/erasure.ts'
import { followUpsSubscription, readCheckpoint, webhookSubscription } from './checkpoint.ts'

/**
 * Sets the position after which webhooks are created, and empties deliveries of what was erased until there. If the reconciler's checkpoint is not in this log either, its list is
 * emptied, and it reads the log again from the start, which sends nothing.
 * @param to `undefined` for the start of the log
 * @returns whether the reconciler reads the log again
 */
export async function restartWorker(
  { pool, store }: { readonly pool: Pool; readonly store: Pick<EventStore, 'has' | 'readBatches'> },
  to: LogCheckpoint | undefined,
  at: Date,
): Promise<boolean> {
  if (to !== undefined) await applyErasures({ pool, store }, to)
  const followUps = await readCheckpoint(pool, followUpsSubscription)
  const isForeign = followUps !== undefined && !(await store.has(followUps))
  await pool.query(restartSql, [
    webhookSubscription,
    to?.commit.toString(),
    to?.prepare.toString(),
    to?.eventId,
    at,
    isForeign,
    followUpsSubscription,
  ])
  return isForeign
}

/** Deliveries that came from a backup do not know of the erasures that the worker will not read. */
async function applyErasures(
  { pool, store }: { readonly pool: Pool; readonly store: Pick<EventStore, 'has' | 'readBatches'> },
  until: LogCheckpoint,
): Promise<void> {
  const reached = await readCheckpoint(pool, webhookSubscription)
  const from = reached !== undefined && (await store.has(reached)) ? reached : undefined
  for await (const { events } of store.readBatches({ prefixes: ['erasure-'], from, until }))
    for (const event of events.filter(isErasure)) await emptyDeliveries(pool, event.data.key_ids)
}

const restartSql = `
with emptied as (
  delete from webhooks.follow_ups where $6
), emptied_secrets as (
  delete from webhooks.open_secrets where $6
), restarted as (
  update webhooks.checkpoints set commit_position = null, prepare_position = null, event_id = null, updated_at = $5
  where name = $7 and $6
)
insert into webhooks.checkpoints (name, commit_position, prepare_position, event_id, updated_at)
values ($1, $2, $3, $4, $5)
on conflict (name) do update set commit_position = excluded.commit_position, event_id = excluded.event_id,
  prepare_position = excluded.prepare_position, updated_at = excluded.updated_at`
