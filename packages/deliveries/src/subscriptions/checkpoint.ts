// How far a subscription of the worker has got. A checkpoint moves in the statement that stores what was read up to it.
import type { LogPosition } from '@paylog/domain/events'
import type { Pool } from 'pg'

export type CheckpointMove = {
  /** The subscription whose checkpoint moves. */
  readonly name: string
  /** The checkpoint that this runner last saw. */
  readonly from: LogPosition | undefined
  readonly to: LogPosition
  readonly at: Date
}

/** Somebody else moved the checkpoint: this process is not the one active runner any more. */
export class StaleCheckpointError extends Error {
  override readonly name = 'StaleCheckpointError'

  constructor(name: string) {
    super(`The checkpoint ${name} was moved by another runner`)
  }
}

/** The position up to which a subscription has handled the log, if it ever did. */
export async function readCheckpoint(pool: Pool, name: string): Promise<LogPosition | undefined> {
  const { rows } = await pool.query<{ commit_position: bigint; prepare_position: bigint }>(
    'select commit_position, prepare_position from webhooks.checkpoints where name = $1',
    [name],
  )
  const [row] = rows
  return row && { commit: row.commit_position, prepare: row.prepare_position }
}

/** Moves a checkpoint by the parameters $1 to $6; it returns a row, unless the checkpoint is not where it was last seen. */
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
