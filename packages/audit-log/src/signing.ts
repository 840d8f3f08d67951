// Signs checkpoints of the stored tree: never one that does not extend the last one.
import type { Pool } from 'pg'
import { checkpointText } from './checkpoint.ts'
import { type SigningKey, signNote } from './note.ts'
import { treeRoot } from './tree.ts'
import { newestCheckpoint, readTree, type StoredCheckpoint, storedHashes } from './treeStore.ts'

type Queryable = Pick<Pool, 'query'>

/** The stored tree does not extend the last signed checkpoint: one of them was changed. */
export class InconsistentTreeError extends Error {
  override readonly name = 'InconsistentTreeError'
}

export type SigningResult =
  /** `leaves`: how many events other than checkpoints are new in it. */
  | { readonly outcome: 'signed'; readonly size: number; readonly leaves: number }
  /** Nothing but checkpoints is new. */
  | { readonly outcome: 'nothing new'; readonly size: number }
  /** The tree has fewer leaves than the last checkpoint: it is being built again. */
  | { readonly outcome: 'behind'; readonly size: number; readonly signedSize: number }

/**
 * Signs the tree as it is stored, and stores the checkpoint.
 * @throws InconsistentTreeError when the stored tree does not have the last checkpoint's root at its size
 */
export async function signCheckpoint(db: Queryable, key: SigningKey): Promise<SigningResult> {
  const { size, unsignedLeaves: leaves } = await readTree(db)
  if (leaves === 0) return { outcome: 'nothing new', size }
  const last = await requireConsistentTree(db, size)
  if (last !== undefined && size <= last.size) return { outcome: 'behind', size, signedSize: last.size }
  const root = await treeRoot(size, storedHashes(db))
  const note = signNote(checkpointText({ origin: key.name, size, root }), key)
  const { rows } = await db.query<{ signed: boolean }>({
    name: 'store checkpoint',
    text: `with signed as (
        insert into audit.checkpoints (size, root, note)
        select $1, $2, $3 where not exists (select from audit.checkpoints where size >= $1)
        returning true
      ), counted as (
        update audit.tree set unsigned_leaves = unsigned_leaves - $4 where exists (select from signed)
      )
      select exists (select from signed) as signed`,
    values: [size, root, note, leaves],
  })
  if (rows[0]?.signed !== true) throw new Error('Another process signed a checkpoint meanwhile')
  return { outcome: 'signed', size, leaves }
}

/**
 * Compares the stored tree with the last checkpoint, unless it has fewer leaves.
 * @returns the last checkpoint
 * @throws InconsistentTreeError
 */
export async function requireConsistentTree(db: Queryable, size: number): Promise<StoredCheckpoint | undefined> {
  const last = await newestCheckpoint(db)
  if (last === undefined || size < last.size) return last
  const root = await treeRoot(last.size, storedHashes(db))
  if (!root.equals(last.root))
    throw new InconsistentTreeError(
      `The first ${last.size} leaves of the stored tree have the root ${root.toString('base64')}, but the signed ` +
        `checkpoint of this size has ${last.root.toString('base64')}: the tree or the log was changed`,
    )
  return last
}
