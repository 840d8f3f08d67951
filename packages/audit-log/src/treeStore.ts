// Reads the stored tree and its checkpoints: the schema `audit`.
import type { LogCheckpoint } from '@paylog/domain/events'
import type { Pool } from 'pg'
import { hashesIn, IncompleteTreeError, type TilePlace, tileReader, tileWidth } from './tiles.ts'
import { type HashReader, hashBytes } from './tree.ts'

type Queryable = Pick<Pool, 'query'>

export type StoredTree = {
  /** Leaves. */
  readonly size: number
  /** The last event that was read; undefined before the first. Everything up to there is in the tree. */
  readonly position: LogCheckpoint | undefined
  /** Leaves since the last checkpoint, without those that are checkpoints. */
  readonly unsignedLeaves: number
  readonly stoppedBecause: string | null
}

export type StoredCheckpoint = {
  readonly size: number
  readonly root: Buffer
  /** The signed note. */
  readonly note: string
  readonly made_at: Date
  /** When it was in the log. */
  readonly recorded_at: Date | null
  /** When it was at AUDIT_CHECKPOINT_URL. */
  readonly published_at: Date | null
  /** How many checkpoints of this size earlier trees have. */
  readonly earlier: number
}

/** A checkpoint of a tree that was ended, because the log is not its any more. */
export type EarlierCheckpoint = Pick<StoredCheckpoint, 'size' | 'root' | 'made_at'> & { readonly ended_at: Date }

export type StoredLeaf = { readonly index: number; readonly hash: Buffer; readonly position: bigint }

const positionBytes = 8
/** Of one query. */
const leafTiles = 64
const checkpointsPerQuery = 1_000

export async function readTree(db: Queryable): Promise<StoredTree> {
  const { rows } = await db.query<{
    size: string
    unsigned_leaves: string
    commit_position: string | null
    prepare_position: string | null
    event_id: string | null
    stopped_because: string | null
  }>({
    name: 'read tree',
    text: `select size::text, unsigned_leaves::text, commit_position::text, prepare_position::text, event_id, stopped_because
      from audit.tree`,
  })
  const [row] = rows
  if (row === undefined) throw new Error('audit.tree has no row: run the migrations first')
  const { commit_position: commit, prepare_position: prepare, event_id: eventId } = row
  const isStarted = commit !== null && prepare !== null && eventId !== null
  return {
    size: Number(row.size),
    position: isStarted ? { commit: BigInt(commit), prepare: BigInt(prepare), eventId } : undefined,
    unsignedLeaves: Number(row.unsigned_leaves),
    stoppedBecause: row.stopped_because,
  }
}

/** Reads nodes of the stored tree, in one query. */
export const storedHashes = (db: Queryable): HashReader =>
  tileReader(async (places) => (await readTiles(db, places)).map(({ hashes }) => hashes))

export type StoredTile = { readonly hashes: Buffer; readonly positions: Buffer | null }

/** @returns the tiles in the order of their places @throws Error when one is missing */
export async function readTiles(db: Queryable, places: readonly TilePlace[]): Promise<readonly StoredTile[]> {
  const { rows } = await db.query<StoredTile & { at: number }>({
    name: 'read tiles',
    text: `select wanted.at::integer - 1 as at, hashes, positions
      from unnest($1::smallint[], $2::bigint[]) with ordinality as wanted (level, index, at)
      join audit.tiles using (level, index)`,
    values: [places.map(({ level }) => level), places.map(({ index }) => index)],
  })
  const found = new Map(rows.map(({ at, ...tile }) => [at, tile]))
  return places.map(({ level, index }, at) => {
    const tile = found.get(at)
    if (tile === undefined) throw new IncompleteTreeError(`The stored tree has no tile ${level}/${index}`)
    return tile
  })
}

/** The highest one of a bigint. */
const maxPosition = 2n ** 63n - 1n

/**
 * The leaves of events at these commit positions; undefined where no leaf has the position. Whether it is the leaf of that
 * event is for the caller to check, by its hash.
 */
export async function leafIndexes(db: Queryable, positions: readonly bigint[]): Promise<(number | undefined)[]> {
  // A client may ask for more than Postgres can compare.
  const possible = positions.filter((position) => position <= maxPosition)
  const { rows } = await db.query<{ position: string; index: string; positions: Buffer }>({
    name: 'find leaves',
    text: `select wanted.position::text, tile.index::text, tile.positions
      from unnest($1::bigint[]) as wanted (position)
      cross join lateral (
        select index, positions from audit.tiles
        where level = 0 and first_position <= wanted.position order by first_position desc limit 1
      ) as tile`,
    values: [possible.map(String)],
  })
  const found = new Map(
    rows.map(({ position, index, positions: stored }) => {
      const at = positionsIn(stored).indexOf(BigInt(position))
      return [position, at < 0 ? undefined : Number(index) * tileWidth + at]
    }),
  )
  return positions.map((position) => found.get(String(position)))
}

/** The stored leaves before an index, in order. @throws Error when one is missing */
export async function* readLeaves(db: Queryable, to: number): AsyncGenerator<StoredLeaf, void> {
  const end = Math.ceil(to / tileWidth)
  for (let first = 0; first < end; first += leafTiles) {
    const places = Array.from({ length: Math.min(leafTiles, end - first) }, (_, n) => ({ level: 0, index: first + n }))
    for (const [n, { hashes, positions }] of (await readTiles(db, places)).entries()) {
      const stored = positionsIn(positions ?? Buffer.alloc(0))
      const start = (first + n) * tileWidth
      for (const [at, hash] of hashesIn(hashes).entries()) {
        const [index, position] = [start + at, stored[at]]
        if (position === undefined) throw new Error(`The stored leaf ${index} has no position`)
        if (index < to) yield { index, hash, position }
      }
      const missing = start + hashes.length / hashBytes
      if (missing < Math.min(to, start + tileWidth)) throw new Error(`The stored tree has no leaf ${missing}`)
    }
  }
}

export const positionsIn = (bytes: Buffer): bigint[] =>
  Array.from({ length: bytes.length / positionBytes }, (_, n) => bytes.readBigUInt64BE(n * positionBytes))

export function positionsAsBytes(positions: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(positions.length * positionBytes)
  for (const [n, position] of positions.entries()) bytes.writeBigUInt64BE(position, n * positionBytes)
  return bytes
}

// An output column named size would be what `order by size` sorts by: as text.
const checkpointFields = `size::text as leaves, root, note, made_at, recorded_at, published_at,
  (select count(*)::integer from audit.earlier_checkpoints as before where before.size = checkpoints.size) as earlier`

async function checkpoints(
  db: Queryable,
  name: string,
  rest: string,
  values: readonly unknown[] = [],
): Promise<StoredCheckpoint[]> {
  const { rows } = await db.query<Omit<StoredCheckpoint, 'size'> & { readonly leaves: string }>({
    name,
    text: `select ${checkpointFields} from audit.checkpoints ${rest}`,
    values: [...values],
  })
  return rows.map(({ leaves, ...row }) => ({ size: Number(leaves), ...row }))
}

export const newestCheckpoint = async (db: Queryable): Promise<StoredCheckpoint | undefined> =>
  (await checkpoints(db, 'newest checkpoint', 'order by size desc limit 1'))[0]

/** The checkpoints up to a size, the smallest first. */
export async function* readCheckpoints(
  db: Queryable,
  upTo = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<StoredCheckpoint, void> {
  for (let above = -1; ; ) {
    const rest = 'where size > $1 and size <= $2 order by size limit $3'
    const page = await checkpoints(db, 'read checkpoints', rest, [above, upTo, checkpointsPerQuery])
    const last = page.at(-1)
    if (last === undefined) return
    yield* page
    above = last.size
  }
}

/** Those of all earlier trees, by their end and size. */
export async function earlierCheckpoints(db: Queryable): Promise<EarlierCheckpoint[]> {
  const { rows } = await db.query<Omit<EarlierCheckpoint, 'size'> & { readonly leaves: string }>(
    `select size::text as leaves, root, made_at, ended_at from audit.earlier_checkpoints as earlier
      order by ended_at, earlier.size`,
  )
  return rows.map(({ leaves, ...row }) => ({ size: Number(leaves), ...row }))
}

/** The smallest checkpoint with at least this many leaves. */
export const coveringCheckpoint = async (db: Queryable, size: number): Promise<StoredCheckpoint | undefined> =>
  (await checkpoints(db, 'covering checkpoint', 'where size >= $1 order by size limit 1', [size]))[0]

export type AuditFigures = {
  readonly size: number
  readonly unsignedLeaves: number
  readonly stoppedBecause: string | null
  /** When the tree last grew. */
  readonly updatedAt: Date
  /** Of the last checkpoint; undefined when there is none. */
  readonly last: { readonly size: number; readonly ageSeconds: number } | undefined
  /** The age of the oldest checkpoint that is not published. */
  readonly unpublishedSeconds: number | undefined
}

/** For health and metrics. */
export async function auditFigures(db: Queryable): Promise<AuditFigures> {
  const { rows } = await db.query<{
    size: string
    unsigned_leaves: string
    stopped_because: string | null
    updated_at: Date
    last_size: string | null
    last_seconds: number | null
    unpublished_seconds: number | null
  }>({
    name: 'audit figures',
    text: `select tree.size::text, unsigned_leaves::text, stopped_because, updated_at, last.size::text as last_size,
        extract(epoch from now() - last.made_at)::float8 as last_seconds,
        (select extract(epoch from now() - made_at)::float8 from audit.checkpoints where published_at is null
          order by size limit 1) as unpublished_seconds
      from audit.tree
      left join lateral (select size, made_at from audit.checkpoints order by size desc limit 1) as last on true`,
  })
  const [row] = rows
  if (row === undefined) throw new Error('audit.tree has no row: run the migrations first')
  const { last_size: size, last_seconds: ageSeconds } = row
  return {
    size: Number(row.size),
    unsignedLeaves: Number(row.unsigned_leaves),
    stoppedBecause: row.stopped_because,
    updatedAt: row.updated_at,
    last: size === null || ageSeconds === null ? undefined : { size: Number(size), ageSeconds },
    unpublishedSeconds: row.unpublished_seconds ?? undefined,
  }
}

/** Checkpoints that are not in the log, or not published yet: the smallest first. */
export const undeliveredCheckpoints = (db: Queryable, place: 'recorded_at' | 'published_at') =>
  checkpoints(db, `not ${place}`, `where ${place} is null order by size limit 100`)
