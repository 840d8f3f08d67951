// The checkpoints of the worker's subscriptions. A checkpoint moves in the statement that stores its events' results.
import type { LogPosition } from '@paylog/domain/events'
import type { Pool } from 'pg'

export type CheckpointMove = {
  /** The subscription whose checkpoint moves. */
  readonly name: string
  /** The checkpoint as this process last read it. */
  readonly from: LogPosition | undefined
  readonly to: LogPosition
  readonly at: Date
}

/** Another process moved the checkpoint: this one is no longer the active reader. */
export class StaleCheckpointError extends Error {
  override readonly name = 'StaleCheckpointError'

  constructor(name: string) {
    super(`The checkpoint ${name} was moved by another process`)
  }
}

/** The position up to which a subscription has handled the log; `undefined` before its first batch. */
export async function readCheckpoint(pool: Pool, name: string): Promise<LogPosition | undefined> {
  const { rows } = await pool.query<{ commit_position: bigint; prepare_position: bigint }>(
    'select commit_position, prepare_position from webhooks.checkpoints where name = $1',
    [name],
  )
  const [row] = rows
  return row && { commit: row.commit_position, prepare: row.prepare_position }
}

/** Moves a checkpoint with the parameters $1 to $6. Returns a row only if the checkpoint is still at `from`. */
export const moveCheckpointSql = `
  insert into webhooks.checkpoints as c (name, commit_position, prepare_position, updated_at) values ($1, $2, $3, $6)
  on conflict (name) do update
    set commit_position = excluded.commit_position,
        prepare_position = excluded.prepare_position,
        updated_at = excluded.updated_at
    where c.commit_position = $4::bigint and c.prepare_position = $5::bigint
  returning 1`

/** The parameters $1 to $6. */
export function moveParameters({ name, from, to, at }: CheckpointMove) {
  return [
    name,
    to.commit.toString(),
    to.prepare.toString(),
    from?.commit.toString() ?? null,
    from?.prepare.toString() ?? null,
    at,
  ]
}
