// Writes events to the stored tree: tiles and the place in the log in one statement.
import { isAfter, type LogCheckpoint, type LogPosition } from '@paylog/domain/events'
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import { categoryOf } from '@paylog/event-store/streamName'
import type { Pool } from 'pg'
import { leafHash } from './leaf.ts'
import { createTiles, hashesIn, IncompleteTreeError, openTilesOf, type Tile } from './tiles.ts'
import { createFrontier, readFrontier } from './tree.ts'
import { positionsAsBytes, positionsIn, readTiles, readTree, storedHashes } from './treeStore.ts'

type Queryable = Pick<Pool, 'query'>

/** The tree was changed meanwhile: another process took over. */
export class TreeLostError extends Error {
  override readonly name = 'TreeLostError'
}

export type TreeHead = { readonly size: number; readonly root: Buffer }

export type TreeWriter = {
  /** Reads where the tree ends. @returns the position to continue after; undefined for the start of the log */
  start(): Promise<LogCheckpoint | undefined>
  /**
   * Appends events that are leaves, and moves the tree to a position.
   * @throws TreeLostError when another process changed the tree; Error for an event that is not after the last one, and when
   *   the database fails: call `start` again
   */
  append(batch: { readonly events: readonly RawEvent[]; readonly position: LogCheckpoint }): Promise<void>
  /**
   * Size and root of the tree as this writer has appended it. What it appended itself is not read from the stored tree again,
   * so that what is signed follows from the log.
   */
  head(): TreeHead
  /** The last event that was read. */
  reached(): LogCheckpoint | undefined
  /** Leaves since the last checkpoint that are not checkpoints, as far as this writer has seen. */
  unsignedLeaves(): number
  /** No longer counts these leaves. */
  forgetUnsigned(leaves: number): void
}

export function createTreeWriter(db: Queryable): TreeWriter {
  let frontier = createFrontier()
  let unsigned = 0
  let reached: LogCheckpoint | undefined
  let tiles = createTiles([])
  return {
    async start() {
      const tree = await readTree(db)
      tiles = createTiles(await readOpenTiles(db, tree.size))
      frontier = await readFrontier(tree.size, storedHashes(db))
      unsigned = tree.unsignedLeaves
      reached = tree.position
      return reached
    },
    async append({ events, position }) {
      requireOrder(reached, events)
      const appended = frontier.copy()
      for (const event of events) {
        const hash = leafHash(event)
        tiles.append(hash, event.position.commit)
        appended.append(hash)
      }
      const ofOthers = events.filter(({ stream }) => categoryOf(stream) !== 'auditCheckpoint').length
      const change = { from: reached, to: position, size: appended.size(), unsigned: ofOthers }
      await writeTree(db, change, tiles.takeChanged())
      frontier = appended
      unsigned += ofOthers
      reached = position
    },
    head: () => ({ size: frontier.size(), root: frontier.root() }),
    reached: () => reached,
    unsignedLeaves: () => unsigned,
    forgetUnsigned(leaves) {
      unsigned = Math.max(unsigned - leaves, 0)
    },
  }
}

/** A leaf too many would be signed, and could not be taken back. @throws Error */
function requireOrder(reached: LogPosition | undefined, events: readonly RawEvent[]): void {
  let last = reached
  for (const { stream, revision, position } of events) {
    if (last !== undefined && !isAfter(position, last))
      throw new Error(`The event ${stream}@${revision} is in the tree already, or out of order`)
    last = position
  }
}

async function readOpenTiles(db: Queryable, size: number): Promise<readonly Tile[]> {
  const open = openTilesOf(size)
  const started = open.filter(({ count }) => count > 0)
  const stored = new Map((await readTiles(db, started)).map((tile, n) => [started[n]?.level, tile]))
  return open.map(({ level, index, count }) => {
    const { hashes, positions } = stored.get(level) ?? { hashes: Buffer.alloc(0), positions: null }
    const tile = { level, index, hashes: hashesIn(hashes), positions: positions === null ? [] : positionsIn(positions) }
    if (tile.hashes.length !== count)
      throw new IncompleteTreeError(
        `The stored tree of ${size} leaves has ${tile.hashes.length} hashes in tile ${level}/${index}`,
      )
    return tile
  })
}

async function writeTree(
  db: Queryable,
  change: {
    readonly from: LogCheckpoint | undefined
    readonly to: LogCheckpoint
    readonly size: number
    readonly unsigned: number
  },
  tiles: readonly Tile[],
): Promise<void> {
  const { from, to, size, unsigned } = change
  const leaves = tiles.map(({ level, positions }) => (level === 0 ? positions : undefined))
  const { rows } = await db.query<{ moved: boolean }>({
    name: 'write tree',
    // A stale writer changes nothing. Every part of one statement sees the rows as they were before it.
    text: `with moved as (
        update audit.tree
        set size = $1, unsigned_leaves = unsigned_leaves + $2, commit_position = $3, prepare_position = $4, event_id = $5,
          updated_at = now()
        where commit_position is not distinct from $6::bigint and event_id is not distinct from $7::uuid
        returning true
      ), written as (
        insert into audit.tiles (level, index, hashes, positions, first_position)
        select * from unnest($8::smallint[], $9::bigint[], $10::bytea[], $11::bytea[], $12::bigint[])
        where exists (select from moved)
        on conflict (level, index) do update set hashes = excluded.hashes, positions = excluded.positions
      )
      select exists (select from moved) as moved`,
    values: [
      size,
      unsigned,
      String(to.commit),
      String(to.prepare),
      to.eventId,
      from === undefined ? null : String(from.commit),
      from?.eventId ?? null,
      tiles.map(({ level }) => level),
      tiles.map(({ index }) => index),
      tiles.map(({ hashes }) => Buffer.concat(hashes)),
      leaves.map((positions) => (positions === undefined ? null : positionsAsBytes(positions))),
      leaves.map((positions) => (positions?.[0] === undefined ? null : String(positions[0]))),
    ],
  })
  if (rows[0]?.moved !== true) throw new TreeLostError('The tree was changed meanwhile')
}

/** Stores for operators why the recorder stopped; null when it continues. */
export async function recordTreeStopped(db: Queryable, reason: string | null): Promise<void> {
  await db.query('update audit.tree set stopped_because = $1 where stopped_because is distinct from $1', [reason])
}

/**
 * Sets aside the checkpoints that are not those of the log. They stay, as those of an earlier tree; the next ones need not
 * extend them. Call it in the transaction of `restartTree`.
 * @param options `sizes`: of those that were found wrong; `compared`: the largest size that was compared. What was signed
 *   meanwhile is of the tree that ends
 */
export async function endCheckpoints(
  db: Queryable,
  { sizes, compared }: { readonly sizes: readonly number[]; readonly compared: number },
): Promise<void> {
  await db.query(
    `with ended as (
        delete from audit.checkpoints where size = any($1::bigint[]) or size > $2
        returning size, root, note, made_at, recorded_at, published_at
      )
      insert into audit.earlier_checkpoints (size, root, note, made_at, recorded_at, published_at) select * from ended`,
    [sizes, compared],
  )
}

/**
 * Forgets the tree, so that the recorder builds it again: for a copy of the log, whose positions differ. The signed checkpoints
 * stay, and the recorder signs no tree that does not extend them.
 */
export async function restartTree(db: Queryable): Promise<void> {
  await db.query(`with emptied as (delete from audit.tiles)
    update audit.tree set size = 0, unsigned_leaves = 0, commit_position = null, prepare_position = null, event_id = null,
      stopped_because = null, updated_at = now()`)
}
