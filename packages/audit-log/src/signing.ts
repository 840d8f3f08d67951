// Signs checkpoints of the tree: never one that does not extend what is remembered.
import type { Pool } from 'pg'
import { checkpointText } from './checkpoint.ts'
import { signNote } from './note.ts'
import { type Memory, requireExtension } from './remembered.ts'
import { newestCheckpoint, readTree } from './treeStore.ts'
import { TreeLostError, type TreeWriter } from './treeWriter.ts'

type Queryable = Pick<Pool, 'query'>

export type SigningResult =
  /** `leaves`: how many events other than checkpoints are new in it. */
  | { readonly outcome: 'signed'; readonly size: number; readonly leaves: number }
  /** Nothing but checkpoints is new. */
  | { readonly outcome: 'nothing new'; readonly size: number }
  /** The tree has fewer leaves than the last checkpoint: it is being built again. */
  | { readonly outcome: 'behind'; readonly size: number; readonly signedSize: number }

/**
 * Signs the tree of a writer, remembers the checkpoint, and stores it, in this order: after a crash the tree still extends what
 * is remembered, and the same checkpoint is signed again.
 * @throws InconsistentTreeError when the tree does not extend what is remembered; TreeLostError when it was restarted meanwhile
 */
export async function signCheckpoint(
  db: Queryable,
  writer: Pick<TreeWriter, 'head' | 'unsignedLeaves'>,
  memory: Memory,
): Promise<SigningResult> {
  const head = writer.head()
  const leaves = writer.unsignedLeaves()
  const { size, root } = head
  if ((await readTree(db)).size < size) throw new TreeLostError('The tree was restarted meanwhile')
  const recalled = await memory.recall()
  await requireExtension(db, head, recalled)
  const { keys } = recalled
  const [key] = keys
  const storedSize = (await newestCheckpoint(db))?.size ?? 0
  const signedSize = Math.max(recalled.checkpoints[0]?.size ?? 0, storedSize)
  // A new key is introduced at once, so that the former one is needed for one start only.
  const isIntroduced = keys.length > 1 && size > signedSize
  if (key === undefined || (leaves === 0 && !isIntroduced)) return { outcome: 'nothing new', size }
  // What is remembered and not stored was interrupted by a crash.
  if (size < signedSize || size === storedSize) return { outcome: 'behind', size, signedSize }
  const note = signNote(checkpointText({ origin: key.name, size, root }), ...keys)
  memory.remember(note)
  const { rows } = await db.query<{ signed: boolean }>({
    name: 'store checkpoint',
    text: `with signed as (
        insert into audit.checkpoints (size, root, note)
        select $1, $2, $3 where not exists (select from audit.checkpoints where size >= $1)
        returning true
      ), counted as (
        update audit.tree set unsigned_leaves = greatest(unsigned_leaves - $4, 0) where exists (select from signed)
      )
      select exists (select from signed) as signed`,
    values: [size, root, note, leaves],
  })
  if (rows[0]?.signed !== true) throw new Error('Another process signed a checkpoint meanwhile')
  return { outcome: 'signed', size, leaves }
}
