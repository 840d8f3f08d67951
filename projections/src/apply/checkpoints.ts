// Checkpoints: the position of each table in the log, moved in the transaction that writes the rows.
import type { LogCheckpoint } from '@paylog/domain/events'
import type { ClientBase, Pool } from 'pg'

export type Checkpoint = {
  /** Undefined before the first batch. */
  readonly position: LogCheckpoint | undefined
  readonly updated_at: Date
  /** Why the projection stopped, if it did: at an unreadable event, or because the log is not the checkpoint's. */
  readonly stopped_because: string | null
}

/** The checkpoint of the live table. */
export type LiveCheckpoint = Checkpoint & { readonly version: number; readonly schema_version: number }

type CheckpointRecord = {
  readonly commit_position: string | null
  readonly prepare_position: string | null
  readonly event_id: string | null
  readonly updated_at: Date
  readonly stopped_because: string | null
}

type Queryable = Pick<Pool, 'query'>

const fields = 'commit_position::text, prepare_position::text, event_id, updated_at, stopped_because'

/** The checkpoint was moved meanwhile: another process took over, or another table became live. */
export class CheckpointLostError extends Error {
  override readonly name = 'CheckpointLostError'
}

/** The name of a table's checkpoint. Every version has its own. */
export function checkpointName(projection: { readonly name: string }, version: number): string {
  return `${projection.name}@${version}`
}

/**
 * Reads a table's checkpoint at the start. The reason of a stop stays until the checkpoint moves.
 * @throws CheckpointLostError when the table is no longer kept up to date
 */
export async function readCheckpoint(db: Queryable, name: string): Promise<Checkpoint> {
  const { rows } = await db.query<CheckpointRecord>({
    name: 'read checkpoint',
    text: `select ${fields} from read_models.checkpoints where name = $1`,
    values: [name],
  })
  const [record] = rows
  if (record === undefined) throw new CheckpointLostError(`No checkpoint ${name}`)
  return toCheckpoint(record)
}

/**
 * Moves a checkpoint within the transaction of `client`, which locks it until the end of the transaction.
 * @throws CheckpointLostError when another process has moved it
 */
export async function moveCheckpoint(
  client: ClientBase,
  name: string,
  from: LogCheckpoint | undefined,
  to: LogCheckpoint,
): Promise<void> {
  const { rowCount } = await client.query({
    name: 'move checkpoint',
    text: `update read_models.checkpoints set commit_position = $2, prepare_position = $3, event_id = $4, updated_at = now(),
      stopped_because = null
      where name = $1 and commit_position is not distinct from $5::bigint and event_id is not distinct from $6::uuid`,
    values: [name, String(to.commit), String(to.prepare), to.eventId, from && String(from.commit), from?.eventId],
  })
  if (rowCount !== 1) throw new CheckpointLostError(`The checkpoint ${name} was moved meanwhile`)
}

/** Stores for operators why the projection stopped, with the position of the stop. */
export async function recordStopped(pool: Pool, name: string, reason: string): Promise<void> {
  await pool.query('update read_models.checkpoints set stopped_because = $2 where name = $1', [name, reason])
}

/** The checkpoints of the live tables, by projection. */
export async function liveCheckpoints(db: Queryable): Promise<ReadonlyMap<string, LiveCheckpoint>> {
  const { rows } = await db.query<CheckpointRecord & { projection: string; version: number; schema_version: number }>({
    name: 'live checkpoints',
    text: `select projection, version, schema_version, ${fields} from read_models.live_checkpoints`,
  })
  return new Map(
    rows.map(({ projection, version, schema_version, ...record }) => [
      projection,
      { version, schema_version, ...toCheckpoint(record) },
    ]),
  )
}

/** The checkpoint of a projection's live table. */
export async function liveCheckpoint(db: Queryable, projectionName: string): Promise<LiveCheckpoint | undefined> {
  return (await liveCheckpoints(db)).get(projectionName)
}

/** The positions of all live tables in one query, without those that have none yet. */
export async function livePositions(db: Queryable): Promise<ReadonlyMap<string, bigint>> {
  const live = [...(await liveCheckpoints(db))]
  return new Map(live.flatMap(([name, { position }]) => (position === undefined ? [] : [[name, position.commit]])))
}

/** The checkpoint in a row's columns; `undefined` before the first batch. */
export function positionIn({
  commit_position: commit,
  prepare_position: prepare,
  event_id: eventId,
}: Pick<CheckpointRecord, 'commit_position' | 'prepare_position' | 'event_id'>): LogCheckpoint | undefined {
  if (commit === null || prepare === null || eventId === null) return undefined
  return { commit: BigInt(commit), prepare: BigInt(prepare), eventId }
}

function toCheckpoint({ commit_position, prepare_position, event_id, ...rest }: CheckpointRecord): Checkpoint {
  return { ...rest, position: positionIn({ commit_position, prepare_position, event_id }) }
}
