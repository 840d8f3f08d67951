// What was signed before, in every place that remembers it, and whether a tree extends it.
import { isAfter, type LogPosition } from '@paylog/domain/events'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import { categoryOf } from '@paylog/event-store/streamName'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import { type Checkpoint, openCheckpoint, unverifiedCheckpoint } from './checkpoint.ts'
import type { Signing, SigningKeys } from './config.ts'
import { parseVerifierKey, type SigningKey, unlessWrong } from './note.ts'
import { consistencyProof, ProofError, verifyConsistency } from './proofs.ts'
import { type AuditState, endedNow, readStateFile, writeStateFile } from './stateFile.ts'
import { IncompleteTreeError } from './tiles.ts'
import { newestCheckpoint, storedHashes } from './treeStore.ts'
import type { TreeHead } from './treeWriter.ts'

type Queryable = Pick<Pool, 'query'>

/** What is remembered does not allow that the tree is signed. The message says what disagrees, and what to do. */
export class InconsistentTreeError extends Error {
  override readonly name = 'InconsistentTreeError'
}

/** A place that may remember a checkpoint. */
export type Source = {
  /** In messages: `the log`. */
  readonly name: string
  /** Whether it is out of reach for who can write to Postgres and to the log. Only then a note without a known signature counts. */
  readonly isOutside: boolean
  /** @returns the newest note, if there is one */
  read(): Promise<string | undefined>
}

export type RememberedCheckpoint = Checkpoint & {
  readonly note: string
  readonly source: string
  readonly isOutside: boolean
  /** Whether a key signed it whose signatures count. */
  readonly isKnown: boolean
}

export type Recalled = {
  /** What the tree has to extend, the largest first. */
  readonly checkpoints: readonly RememberedCheckpoint[]
  /** The keys that sign the next checkpoint: the former one too, when it introduces the new one. */
  readonly keys: readonly SigningKey[]
}

export type Memory = {
  /** @throws InconsistentTreeError when the newest checkpoint is another key's, or the state file cannot be used */
  recall(): Promise<Recalled>
  /** Remembers a checkpoint before it is stored or shown to anybody. @throws the system's error */
  remember(note: string): void
  /** Of the largest checkpoint that the tree has to extend, as far as it was recalled. */
  newestSize(): number
}

/** @param sources all but the state file, which the operator's word about earlier trees is in */
export function createMemory(signing: SigningKeys & Pick<Signing, 'stateFile'>, sources: readonly Source[]): Memory {
  const { stateFile } = signing
  const stateName = `AUDIT_STATE_FILE ${stateFile}`
  let newestSize = 0
  return {
    async recall() {
      const state = stateFile === undefined ? undefined : readState(stateFile, stateName)
      const found = await Promise.all(sources.map(async (source) => opened(await source.read(), source, signing)))
      const elsewhere = found.filter((each) => each !== undefined)
      const endedSize = stateFile === undefined ? -1 : narrowEnd(stateFile, state, elsewhere)
      const own = opened(state?.checkpoint ?? undefined, { name: stateName, isOutside: true }, signing)
      if (own === undefined && typeof state?.checkpoint === 'string') throw unusable(stateName, 'It has no checkpoint')
      const others = elsewhere.filter(({ size }) => size > endedSize)
      const recalled = binding([...(own === undefined ? [] : [own]), ...others], signing)
      newestSize = recalled.checkpoints[0]?.size ?? 0
      return recalled
    },
    remember(note) {
      if (stateFile === undefined) return
      writeStateFile(stateFile, { checkpoint: note, ended_size: readState(stateFile, stateName)?.ended_size ?? -1 })
    },
    newestSize: () => newestSize,
  }
}

function readState(path: string, name: string): AuditState | undefined {
  try {
    return readStateFile(path)
  } catch (error) {
    throw unusable(name, error instanceof Error ? error.message : String(error))
  }
}

const unusable = (name: string, problem: string) =>
  new InconsistentTreeError(
    `${name} cannot be used, and nothing is signed without it: ${problem}. Restore it, or move it away`,
  )

/** After `ops audit restart`: what others remember at this moment is of the tree that has ended. */
function narrowEnd(path: string, state: AuditState | undefined, elsewhere: readonly RememberedCheckpoint[]): number {
  if (state?.ended_size !== endedNow) return state?.ended_size ?? -1
  const ended_size = Math.max(-1, ...elsewhere.map(({ size }) => size))
  writeStateFile(path, { ...state, ended_size })
  return ended_size
}

/** @returns undefined for what is no checkpoint */
function opened(
  note: string | undefined,
  { name: source, isOutside }: Omit<Source, 'read'>,
  { verifiers }: SigningKeys,
): RememberedCheckpoint | undefined {
  if (note === undefined) return undefined
  const known = unlessWrong(() => openCheckpoint(note, ...verifiers))
  const checkpoint = known ?? unlessWrong(() => unverifiedCheckpoint(note))
  return checkpoint && { ...checkpoint, note, source, isOutside, isKnown: known !== undefined }
}

const isSignedBy = (note: string, { verifierKey }: SigningKey) =>
  unlessWrong(() => openCheckpoint(note, parseVerifierKey(verifierKey))) !== undefined

/**
 * Anybody can write a note with a key that nobody knows into Postgres, so such a note does not count there once the key has
 * signed. Before, it may be the former key's: then the former key has to introduce this one.
 */
function binding(found: readonly RememberedCheckpoint[], { key, previous }: SigningKeys): Recalled {
  const isInUse = found.some(({ note }) => isSignedBy(note, key))
  const checkpoints = found
    .filter(({ isKnown, isOutside }) => isKnown || isOutside || !isInUse)
    .sort((one, other) => other.size - one.size)
  const [newest] = checkpoints
  if (newest === undefined || isSignedBy(newest.note, key)) return { checkpoints, keys: [key] }
  if (previous !== undefined && isSignedBy(newest.note, previous)) return { checkpoints, keys: [key, previous] }
  throw new InconsistentTreeError(
    `The newest checkpoint, over ${newest.size} events in ${newest.source}, was signed by another key than AUDIT_SIGNING_KEY: ` +
      'start once with AUDIT_PREVIOUS_SIGNING_KEY_FILE, the former key, which introduces the new one',
  )
}

/** @throws InconsistentTreeError unless the tree begins with the leaves of every checkpoint that is not larger */
export async function requireExtension(
  db: Queryable,
  { size, root }: TreeHead,
  { checkpoints }: Recalled,
): Promise<void> {
  for (const { size: oldSize, root: oldRoot, source } of checkpoints.filter((each) => each.size <= size)) {
    try {
      const proof = await consistencyProof(oldSize, size, storedHashes(db))
      verifyConsistency({ oldSize, newSize: size, oldRoot, newRoot: root, proof })
    } catch (error) {
      if (!(error instanceof ProofError) && !(error instanceof IncompleteTreeError)) throw error
      throw new InconsistentTreeError(
        `The tree of ${size} events does not begin with the ${oldSize} events of the signed checkpoint in ${source}: the ` +
          `tree or the log was changed (${error.message})`,
        { cause: error },
      )
    }
  }
}

/** @throws InconsistentTreeError when the tree has the whole log, and a larger one was signed */
export async function requireWholeLog(
  store: Pick<EventStore, 'checkpointBefore'>,
  tree: { readonly size: number; readonly reached: LogPosition | undefined },
  { checkpoints: [newest] }: Recalled,
): Promise<void> {
  if (newest === undefined || tree.size >= newest.size) return
  const end = await store.checkpointBefore(undefined)
  if (end !== undefined && (tree.reached === undefined || isAfter(end, tree.reached))) return
  throw new InconsistentTreeError(
    `The log has ${tree.size} events, but the signed checkpoint in ${newest.source} covers ${newest.size}: the log was cut, ` +
      'restored or replaced',
  )
}

export const storedSource = (db: Queryable): Source => ({
  name: 'audit.checkpoints',
  isOutside: false,
  read: async () => (await newestCheckpoint(db))?.note,
})

/** A target that cannot be reached holds up every attempt for some seconds. */
const publishedPauseMs = 60_000

/** Where the published checkpoints can be read. One that was read once is not read again. */
export function publishedSource({ readPublished }: Signing, signal: AbortSignal, log: Pick<Logger, 'warn'>): Source[] {
  if (readPublished === undefined) return []
  let published: { readonly note: string | undefined } | undefined
  let retryAt = 0
  let isReported = false
  const report = (detail: object) => {
    if (!isReported) log.warn(detail, 'the published checkpoints cannot be read, so nothing is compared with them')
    isReported = true
  }
  const read = async () => {
    if (published !== undefined || performance.now() < retryAt) return published?.note
    retryAt = performance.now() + publishedPauseMs
    try {
      const found = await readPublished(signal)
      if (found === null) report({ action: 'set AUDIT_STATE_FILE' })
      published = { note: found ?? undefined }
    } catch (err) {
      report({ err, action: 'they are tried again every minute' })
    }
    return published?.note
  }
  return [{ name: 'AUDIT_CHECKPOINT_URL', isOutside: true, read }]
}

/** How far back the log is searched: at least every 10,000 events a checkpoint is signed. */
const searchedEvents = 20_000

/** The newest CheckpointSigned since the last `audit restart`, which ended what was signed before. */
export async function searchLog(store: Pick<EventStore, 'readBackwards'>, keys: SigningKeys): Promise<Source> {
  let newest: RememberedCheckpoint | undefined
  let searched = 0
  for await (const page of store.readBackwards()) {
    const end = page.findIndex(isRestart)
    for (const event of (end < 0 ? page : page.slice(0, end)).filter(isCheckpoint)) {
      const { note } = fieldsOf(event.data)
      const found = opened(typeof note === 'string' ? note : undefined, { name: '', isOutside: false }, keys)
      if (found !== undefined && isRather(found, newest)) newest = found
    }
    searched += page.length
    if (end >= 0 || newest?.isKnown || searched >= searchedEvents) break
  }
  return { name: 'the log', isOutside: false, read: async () => newest?.note }
}

/** Older ones may have been recorded again, and ones of unknown keys by anybody. */
const isRather = (found: RememberedCheckpoint, than: RememberedCheckpoint | undefined) =>
  than === undefined || (found.isKnown === than.isKnown ? found.size > than.size : found.isKnown)

const isCheckpoint = ({ stream, type }: RawEvent) =>
  type === 'CheckpointSigned' && categoryOf(stream) === 'auditCheckpoint'

const isRestart = ({ stream, type, data }: RawEvent) =>
  type === 'AdministratorActed' && categoryOf(stream) === 'auditTrail' && fieldsOf(data).action === 'restart_audit_tree'

function fieldsOf(data: Uint8Array): { readonly note?: unknown; readonly action?: unknown } {
  try {
    const content: unknown = JSON.parse(Buffer.from(data).toString())
    return typeof content === 'object' && content !== null ? content : {}
  } catch {
    return {}
  }
}
