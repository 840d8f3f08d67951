// How far a projection has read the log: kept beside its rows, moved in the same transaction.
import type { ClientBase, Pool } from 'pg'
import { projections } from './registry.ts'

/** A place in the log. Both numbers are kept: some servers only honour one of them. */
export type Position = { readonly commit: bigint; readonly prepare: bigint }

export type Checkpoint = {
  /** Nothing before the first batch. */
  readonly position: Position | undefined
  readonly updated_at: Date
  /** Why the projection is not running, when it met an event that it cannot read. */
  readonly stopped_because: string | null
}

type CheckpointRecord = {
  readonly commit_position: string | null
  readonly prepare_position: string | null
  readonly updated_at: Date
  readonly stopped_because: string | null
}

const fields = 'commit_position::text, prepare_position::text, updated_at, stopped_because'

/** The name of a projection's checkpoint: every version reads the log for itself. */
export function checkpointName(projection: { readonly name: string }, version: number): string {
  return `${projection.name}@${version}`
}

export function isAfter(position: Position, other: Position): boolean {
  return position.commit === other.commit ? position.prepare > other.prepare : position.commit > other.commit
}

/**
 * Claims a checkpoint for the runner that begins now, and returns where it stands. Why it stood still is forgotten only
 * when it moves.
 */
export async function claimCheckpoint(pool: Pool, name: string): Promise<Checkpoint> {
  const { rows } = await pool.query<CheckpointRecord>(
    `insert into read_models.checkpoints as c (name) values ($1)
     on conflict (name) do update set name = excluded.name returning ${fields}`,
    [name],
  )
  const checkpoint = rows.map(toCheckpoint).at(0)
  if (checkpoint === undefined) throw new Error(`The checkpoint ${name} is gone`)
  return checkpoint
}

/**
 * Moves a checkpoint within the transaction of `client`, whose lock on it lasts until the transaction ends.
 * @throws Error when it is not where this runner left it: another runner has taken over, and this one is stale.
 */
export async function moveCheckpoint(
  client: ClientBase,
  name: string,
  from: Position | undefined,
  to: Position,
): Promise<void> {
  const { rowCount } = await client.query({
    name: 'move checkpoint',
    text: `update read_models.checkpoints set commit_position = $2, prepare_position = $3, updated_at = now(),
      stopped_because = null
      where name = $1 and commit_position is not distinct from $4::bigint
      and prepare_position is not distinct from $5::bigint`,
    values: [name, String(to.commit), String(to.prepare), from && String(from.commit), from && String(from.prepare)],
  })
  if (rowCount !== 1) throw new Error(`The checkpoint ${name} was moved by another runner`)
}

/** Leaves a note for those who look after the system, beside the position that the projection stopped at. */
export async function noteStopped(pool: Pool, name: string, reason: string): Promise<void> {
  await pool.query('update read_models.checkpoints set stopped_because = $2 where name = $1', [name, reason])
}

/** Where the live version of a projection stands, the one whose rows queries see. */
export async function liveCheckpoint(
  pool: Pick<Pool, 'query'>,
  projectionName: string,
): Promise<Checkpoint | undefined> {
  const { rows } = await pool.query<CheckpointRecord>({
    name: `${projectionName} checkpoint`,
    text: `select ${fields} from read_models.${projectionName}_checkpoint`,
  })
  return rows.map(toCheckpoint).at(0)
}

/** How far the live versions of all projections have come, in one look; one that has not begun is left out. */
export async function livePositions(pool: Pick<Pool, 'query'>): Promise<ReadonlyMap<string, bigint>> {
  const each = projections.map(
    ({ name }) => `select '${name}' as name, commit_position::text from read_models.${name}_checkpoint`,
  )
  const { rows } = await pool.query<{ readonly name: string; readonly commit_position: string | null }>({
    name: 'live positions',
    text: each.join(' union all '),
  })
  return new Map(rows.flatMap(({ name, commit_position: at }) => (at === null ? [] : [[name, BigInt(at)] as const])))
}

function toCheckpoint({ commit_position, prepare_position, ...rest }: CheckpointRecord): Checkpoint {
  if (commit_position === null || prepare_position === null) return { ...rest, position: undefined }
  return { ...rest, position: { commit: BigInt(commit_position), prepare: BigInt(prepare_position) } }
}
