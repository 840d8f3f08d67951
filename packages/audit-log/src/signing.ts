// Signs checkpoints of the tree: when they are due, and never one that does not extend what is remembered.
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import { checkpointText } from './checkpoint.ts'
import { signNote } from './note.ts'
import { type Memory, requireExtension, requireWholeLog } from './remembered.ts'
import { newestCheckpoint, readTree } from './treeStore.ts'
import { TreeLostError, type TreeWriter } from './treeWriter.ts'

/** Checkpoints are signed at least this often, also while the log is read for the first time. */
const maxUnsignedLeaves = 10_000
/** How often it checks whether a checkpoint is due. */
const signingPollMs = 250

export type Signer = {
  /** Signs what is new. Calls at the same time share its work. @throws as `signCheckpoint` */
  sign(): Promise<void>
  /** Signs when many leaves are not signed yet. What has to stop the recorder is thrown by `check`. */
  signLarge(): Promise<void>
  /** While the tree is smaller than what was signed, whether the log is too. @throws InconsistentTreeError */
  check(): Promise<void>
  hasUnsigned(): boolean
}

type Options = {
  readonly pool: Pool
  readonly store: Pick<EventStore, 'checkpointBefore'>
  readonly log: Logger
}

/**
 * @param writer that has started
 * @throws InconsistentTreeError when its tree does not extend what is remembered
 */
export async function createSigner(options: Options, memory: Memory, writer: TreeWriter): Promise<Signer> {
  const { pool, store, log } = options
  let pending: Promise<void> | undefined
  let failure: { readonly error: unknown } | undefined
  const requireRemembered = async () => {
    const recalled = await memory.recall()
    const [head, reached] = [writer.head(), writer.reached()]
    await requireExtension(pool, head, recalled)
    await requireWholeLog(store, { size: head.size, reached }, recalled)
  }
  await requireRemembered()
  const signOnce = async () => {
    const result = await signCheckpoint(pool, writer, memory)
    if (result.outcome === 'signed') {
      log.debug({ size: result.size }, 'signed a checkpoint')
      writer.forgetUnsigned(result.leaves)
    } else if (result.outcome === 'behind') {
      log.warn(result, 'the tree has fewer leaves than the last checkpoint, and nothing is signed until it has more')
      writer.forgetUnsigned(writer.unsignedLeaves())
    }
  }
  const sign = () => {
    pending ??= signOnce().finally(() => {
      pending = undefined
    })
    return pending
  }
  return {
    sign,
    async signLarge() {
      if (writer.unsignedLeaves() < maxUnsignedLeaves) return
      await sign().catch((error: unknown) => {
        // The follower would only try again.
        failure = { error }
        throw error
      })
    },
    async check() {
      if (failure !== undefined) throw failure.error
      if (writer.head().size < memory.newestSize()) await requireRemembered()
    },
    hasUnsigned: () => writer.unsignedLeaves() > 0,
  }
}

/**
 * Signs new leaves as soon as the last checkpoint is old enough; the first ones an interval after the start.
 * @throws TreeLostError at the latest after an interval, also when nothing is new
 */
export async function signInTime(options: {
  readonly pool: Pool
  readonly signer: Signer
  readonly intervalMs: number
  readonly signal: AbortSignal
}): Promise<void> {
  const { signer, intervalMs, signal } = options
  const { rows } = await options.pool.query<{ age_ms: number | null }>(
    'select extract(epoch from now() - max(made_at))::float8 * 1000 as age_ms from audit.checkpoints',
  )
  let signedAt = performance.now() - (rows[0]?.age_ms ?? 0)
  let triedAt = performance.now()
  while (!signal.aborted) {
    await signer.check()
    const isNew = signer.hasUnsigned()
    if (performance.now() - (isNew ? signedAt : triedAt) >= intervalMs) {
      await signer.sign()
      triedAt = performance.now()
      if (isNew) signedAt = triedAt
    }
    await sleep(signingPollMs, undefined, { signal }).catch(() => undefined)
  }
}

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
  db: Pick<Pool, 'query'>,
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
