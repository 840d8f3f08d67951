// `audit verify`: recomputes the tree from the log, and compares it with the stored tree and the checkpoints.
import { isLeaf, leafHash } from '@paylog/audit-log/leaf'
import type { VerifierKey } from '@paylog/audit-log/note'
import { earlierCheckpoints, newestCheckpoint, readLeaves, readTree } from '@paylog/audit-log/treeStore'
import type { RawClient } from '@paylog/event-store/connection/calls'
import type { EventName } from '@paylog/event-store/export/difference'
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import { readEvents, readPages } from '@paylog/event-store/read/readPage'
import { readLogEnd, readStreamPage } from '@paylog/event-store/read/reads'
import { defineCommand } from '../defineCommand.ts'
import { texts } from '../options.ts'
import { logProgress } from '../progressLine.ts'
import type { Pool } from '../system.ts'
import {
  type InvalidCheckpoint,
  type OpenedCheckpoints,
  openGivenCheckpoints,
  storedCheckpoints,
} from './checkpoints.ts'
import { compareLog, type SignedCheckpoint } from './compareLog.ts'
import { type LogLeaf, type StoredLeaf, windowLeaves } from './leafDifference.ts'
import { rememberedFile } from './stateFile.ts'
import { isValid, type LogVerdict, type MissingEvent, verdictJson, verdictText } from './verdict.ts'
import { requireVerifiers, verifierOption } from './verifier.ts'

const exitDifferent = 3
/** Invalid checkpoints that are listed. The others are counted. */
const maxInvalid = 20

export const auditVerify = defineCommand({
  summary: 'Recompute the tree of the log, and compare it with the stored tree and the checkpoints',
  options: {
    against: texts(
      'CHECKPOINT',
      'a checkpoint that was kept elsewhere: a file with a signed note, the proof of a payment, the\n' +
        'manifest of an export, or a directory of them; may be repeated',
    ),
    ...verifierOption,
  },
  json: 'one object: whether the log is valid, up to where it is proven, and the first difference',
  about: [
    'Reads the whole log once. Every event is compared with its leaf in Postgres, and the tree of all events so far with',
    'each checkpoint. The first position that is wrong is named, with what happened there: an event was changed, is missing,',
    'was added, is out of order, or the log was truncated. If the leaves in Postgres were changed too, the checkpoints bracket it.',
    '',
    'Checkpoints that `audit restart` has set aside are named, and not compared. One that is given with --against is.',
    '',
    'Who can write to the log and to Postgres can cut both back to an older state. Only a checkpoint from elsewhere shows it:',
    'that in AUDIT_STATE_FILE is compared too, where the command can read the file.',
    '',
    'Exits with 0 when nothing differs, with 3 when something does or when there is no checkpoint to compare with, and with 1',
    'when it could not be checked.',
  ],
  onInterrupt: 'Interrupted before the whole log was checked.',
  async run({ options, environment, open, progress, signal }) {
    const verifiers = requireVerifiers(options.key, environment)
    const given = openGivenCheckpoints([...options.against, ...rememberedFile(environment)], verifiers)
    const log = await open.rawLog(signal)
    const head = (await readLogEnd(log))?.position.commit ?? 0n
    const onEvent = ({ position }: EventName, events: number) =>
      progress.show(logProgress('Verifying', { events, position, head }))
    const verdict = await verify({ log, pool: open.pool({ max: 3 }), verifiers, given, signal, onEvent })
    return {
      json: verdictJson(verdict),
      text: verdictText(verdict),
      problem: isValid(verdict) ? undefined : 'The log is not proven.',
      exitCode: exitDifferent,
    }
  },
})

type Verification = {
  readonly log: RawClient
  readonly pool: Pool
  readonly verifiers: readonly VerifierKey[]
  readonly given: OpenedCheckpoints
  readonly signal: AbortSignal
  readonly onEvent: (event: EventName, events: number) => void
}

async function verify({ log, pool, verifiers, given, signal, onEvent }: Verification): Promise<LogVerdict> {
  // Before the log is read, so that the log has at least the events of the tree and of the checkpoints.
  const { size: treeSize } = await readTree(pool)
  const newest = await newestCheckpoint(pool)
  const invalid: InvalidCheckpoint[] = [...given.invalid]
  let treeProblem: string | undefined
  const onInvalid = (found: InvalidCheckpoint) => void invalid.push(found)
  const stored = storedCheckpoints(pool, { verifiers, upTo: newest?.size ?? 0, onInvalid })
  const sources = {
    log: leavesOf(log, signal),
    stored: storedLeaves(pool, treeSize, (problem) => {
      treeProblem = problem
    }),
    treeSize,
    checkpoints: mergeBySize(stored, given.signed),
  }
  const compared = await compareLog(sources, onEvent)
  const { difference } = compared
  const missing = difference?.kind === 'missing' ? await findMissing(log, difference) : undefined
  const { length: invalidCount } = invalid
  const earlier = await earlierCheckpoints(pool)
  return { ...compared, treeSize, treeProblem, missing, invalid: invalid.slice(0, maxInvalid), invalidCount, earlier }
}

async function* leavesOf(log: RawClient, signal: AbortSignal): AsyncGenerator<LogLeaf, void> {
  for await (const event of readEvents(log)) {
    signal.throwIfAborted()
    if (isLeaf(event)) yield { hash: leafHash(event), event: nameOf(event) }
  }
}

export function nameOf({ id, stream, revision, position, type }: RawEvent): EventName {
  return { id, stream, revision: revision.toString(), position: position.commit.toString(), type }
}

/** A stored tree with a gap is no witness any more from there on, and the checkpoints still are. */
async function* storedLeaves(
  pool: Pool,
  to: number,
  onProblem: (problem: string) => void,
): AsyncGenerator<StoredLeaf, void> {
  try {
    yield* readLeaves(pool, to)
  } catch (error) {
    // Errors of the database have a code.
    if (!(error instanceof Error) || 'code' in error) throw error
    onProblem(error.message)
  }
}

async function* mergeBySize(
  stored: AsyncGenerator<SignedCheckpoint, void>,
  given: readonly SignedCheckpoint[],
): AsyncGenerator<SignedCheckpoint, void> {
  let next = 0
  for await (const checkpoint of stored) {
    for (let one = given[next]; one !== undefined && one.size <= checkpoint.size; one = given[++next]) yield one
    yield checkpoint
  }
  yield* given.slice(next)
}

/** Streams whose previous event is looked up. */
const maxStreams = 200

/**
 * Which event is missing from the log, of which the tree has only the hash: looks for a stream that continues after the gap
 * with a revision too high.
 * @returns undefined when none of the next streams has a gap: the event was the last one of its stream, or its only one
 */
async function findMissing(
  log: RawClient,
  { after }: { readonly after: EventName | null },
): Promise<MissingEvent | undefined> {
  const commit = after === null ? undefined : BigInt(after.position)
  const start = commit === undefined ? undefined : { commit, prepare: commit }
  const seen = new Set<string>()
  for await (const { events } of readPages(log, { after: start, maxEvents: windowLeaves })) {
    for (const { stream, revision } of events) {
      if (seen.has(stream) || seen.size >= maxStreams) continue
      seen.add(stream)
      if (revision === 0n || (await hasRevision(log, stream, revision - 1n))) continue
      return { stream, revision: String(revision - 1n) }
    }
    return undefined
  }
  return undefined
}

async function hasRevision(log: RawClient, stream: string, revision: bigint): Promise<boolean> {
  const [next] = (await readStreamPage(log, stream, revision, 1)).events
  // The stream may hide its events from readers.
  return next === undefined || next.revision === revision
}
