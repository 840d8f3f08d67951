// How far a table has read the log: kept beside its rows, moved in the same transaction.
import type { LogPosition } from '@paylog/domain/events'
import type { ClientBase, Pool } from 'pg'

export type Checkpoint = {
  /** Nothing before the first batch. */
  readonly position: LogPosition | undefined
  readonly updated_at: Date
  /** Why the projection is not running, when it met an event that it cannot read. */
  readonly stopped_because: string | null
}

/** Where the table stands that queries see. */
export type LiveCheckpoint = Checkpoint & { readonly version: number; readonly definition: number }

type CheckpointRecord = {
  readonly commit_position: string | null
  readonly prepare_position: string | null
  readonly updated_at: Date
  readonly stopped_because: string | null
}

type Queryable = Pick<Pool, 'query'>

const fields = 'commit_position::text, prepare_position::text, updated_at, stopped_because'

/** The checkpoint is not where its runner left it: another runner has taken over, or another table has become the live one. */
export class CheckpointLostError extends Error {
  override readonly name = 'CheckpointLostError'
}

/** The name of a table's checkpoint: every version reads the log for itself. */
export function checkpointName(projection: { readonly name: string }, version: number): string {
  return `${projection.name}@${version}`
}

/**
 * Where a table stands, for the runner that begins now. Why it stood still is forgotten only when it moves.
 * @throws CheckpointLostError when the table is not kept up any more
 */
export async function readCheckpoint(db: Queryable, name: string): Promise<Checkpoint> {
  const { rows } = await db.query<CheckpointRecord>({
    name: 'read checkpoint',
    text: `select ${fields} from read_models.checkpoints where name = $1`,
    values: [name],
  })
  const [record] = rows
  if (record === undefined) throw new CheckpointLostError(`There is no checkpoint ${name}`)
  return toCheckpoint(record)
}

/**
 * Moves a checkpoint within the transaction of `client`, whose lock on it lasts until the transaction ends.
 * @throws CheckpointLostError when it is not where this runner left it, so that this runner is stale
 */
export async function moveCheckpoint(
  client: ClientBase,
  name: string,
  from: LogPosition | undefined,
  to: LogPosition,
): Promise<void> {
  const { rowCount } = await client.query({
    name: 'move checkpoint',
    text: `update read_models.checkpoints set commit_position = $2, prepare_position = $3, updated_at = now(),
      stopped_because = null
      where name = $1 and commit_position is not distinct from $4::bigint
      and prepare_position is not distinct from $5::bigint`,
    values: [name, String(to.commit), String(to.prepare), from && String(from.commit), from && String(from.prepare)],
  })
  if (rowCount !== 1) throw new CheckpointLostError(`The checkpoint ${name} is not where it was left`)
}

/** Leaves a note for those who look after the system, beside the position that the projection stopped at. */
export async function recordStopped(pool: Pool, name: string, reason: string): Promise<void> {
  await pool.query('update read_models.checkpoints set stopped_because = $2 where name = $1', [name, reason])
}

/** Where the live tables stand, by projection. */
export async function liveCheckpoints(db: Queryable): Promise<ReadonlyMap<string, LiveCheckpoint>> {
  const { rows } = await db.query<CheckpointRecord & { projection: string; version: number; definition: number }>({
    name: 'live checkpoints',
    text: `select projection, version, definition, ${fields} from read_models.live_checkpoints`,
  })
  return new Map(
    rows.map(({ projection, version, definition, ...record }) => [
      projection,
      { version, definition, ...toCheckpoint(record) },
    ]),
  )
}

/** Where the live table of one projection stands. */
export async function liveCheckpoint(db: Queryable, projectionName: string): Promise<LiveCheckpoint | undefined> {
  return (await liveCheckpoints(db)).get(projectionName)
}

/** How far the live tables of all projections have come, in one look; one that has not begun is left out. */
export async function livePositions(db: Queryable): Promise<ReadonlyMap<string, bigint>> {
  const live = [...(await liveCheckpoints(db))]
  return new Map(live.flatMap(([name, { position }]) => (position === undefined ? [] : [[name, position.commit]])))
}

function toCheckpoint({ commit_position, prepare_position, ...rest }: CheckpointRecord): Checkpoint {
  if (commit_position === null || prepare_position === null) return { ...rest, position: undefined }
  return { ...rest, position: { commit: BigInt(commit_position), prepare: BigInt(prepare_position) } }
}
