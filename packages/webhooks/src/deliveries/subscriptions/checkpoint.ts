// The checkpoints of the worker's subscriptions. A checkpoint moves in the statement that stores its events' results.
import type { LogCheckpoint } from '@paylog/domain/events'
import type { EventStore } from '@paylog/event-store/eventStore'
import { LogMismatchError } from '@paylog/event-store/follow/followLog'
import type { Pool } from 'pg'

/** Creates webhooks. */
export const webhookSubscription = 'webhooks'
/** Keeps the reconciler's list. */
export const followUpsSubscription = 'follow-ups'

export type CheckpointMove = {
  /** The subscription whose checkpoint moves. */
  readonly name: string
  /** The checkpoint as this process last read it. */
  readonly from: LogCheckpoint | undefined
  readonly to: LogCheckpoint
  readonly at: Date
}

/** Another process moved the checkpoint: this one is no longer the active reader. */
export class StaleCheckpointError extends Error {
  override readonly name = 'StaleCheckpointError'

  constructor(name: string) {
    super(`The checkpoint ${name} was moved by another process`)
  }
}

type Row = { commit_position: bigint | null; prepare_position: bigint | null; event_id: string | null }

/**
 * Reads how far a subscription has handled the log.
 * @returns `undefined` when nobody has decided where it starts; `position` is undefined for the start of the log
 */
async function readStoredCheckpoint(
  pool: Pool,
  name: string,
): Promise<{ readonly position: LogCheckpoint | undefined } | undefined> {
  const { rows } = await pool.query<Row>(
    'select commit_position, prepare_position, event_id from webhooks.checkpoints where name = $1',
    [name],
  )
  const [row] = rows
  if (row === undefined) return undefined
  const { commit_position: commit, prepare_position: prepare, event_id: eventId } = row
  const isStart = commit === null || prepare === null || eventId === null
  return { position: isStart ? undefined : { commit, prepare, eventId } }
}

/** The position up to which a subscription has handled the log; `undefined` for the start of the log. */
export async function readCheckpoint(pool: Pool, name: string): Promise<LogCheckpoint | undefined> {
  return (await readStoredCheckpoint(pool, name))?.position
}

/**
 * The position where webhooks are created next. The first start of a new system begins at the start of the log. Without a
 * checkpoint, but with a log, such as after the loss of the database, an operator has to decide: everything since the
 * beginning would be sent again.
 * @throws LogMismatchError when nobody has decided yet
 */
export async function decidedCheckpoint(
  { pool, store }: { readonly pool: Pool; readonly store: Pick<EventStore, 'lag'> },
  prefixes: readonly string[],
): Promise<LogCheckpoint | undefined> {
  const stored = await readStoredCheckpoint(pool, webhookSubscription)
  if (stored !== undefined) return stored.position
  const { events, isMore } = await store.lag(undefined, prefixes, { maxEvents: 1 })
  if (events > 0 || isMore)
    throw new LogMismatchError(
      'There is no checkpoint, but the log is not empty: nobody has decided where webhooks start',
    )
  await pool.query(
    'insert into webhooks.checkpoints (name, updated_at) values ($1, now()) on conflict (name) do nothing',
    [webhookSubscription],
  )
  return undefined
}

/** Moves a checkpoint with the parameters $1 to $7. Returns a row only if the checkpoint is still at `from`. */
export const moveCheckpointSql = `
  insert into webhooks.checkpoints as c (name, commit_position, prepare_position, event_id, updated_at)
  values ($1, $2, $3, $4, $7)
  on conflict (name) do update
    set commit_position = excluded.commit_position,
        prepare_position = excluded.prepare_position,
        event_id = excluded.event_id,
        updated_at = excluded.updated_at
    where c.commit_position is not distinct from $5::bigint and c.event_id is not distinct from $6::uuid
  returning 1`

/** The parameters $1 to $7. */
export function moveParameters({ name, from, to, at }: CheckpointMove) {
  return [
    name,
    to.commit.toString(),
    to.prepare.toString(),
    to.eventId,
    from?.commit.toString() ?? null,
    from?.eventId ?? null,
    at,
  ]
}
