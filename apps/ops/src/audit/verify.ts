// `audit verify`: recomputes the tree from the log, and compares it with the stored tree and the checkpoints.
import type { VerifierKey } from '@paylog/audit-log/note'
import { earlierCheckpoints, newestCheckpoint, readTree } from '@paylog/audit-log/treeStore'
import type { RawClient } from '@paylog/event-store/connection/calls'
import type { EventName } from '@paylog/event-store/export/difference'
import { createPageReader } from '@paylog/event-store/read/readPage'
import { readStreamPage } from '@paylog/event-store/read/reads'
import { exitDifferent } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { texts } from '../options.ts'
import {
  type OpenedCheckpoints,
  openGivenCheckpoints,
  rememberedFile,
  type SignedCheckpoint,
  storedCheckpoints,
} from './checkpoints.ts'
import { compareLog, leavesOf, storedLeaves, type WholeLog } from './compareLog.ts'
import { isValid, type LogVerdict, type MissingEvent, verdictJson, verdictText } from './verdict.ts'
import { requireVerifiers, verifierOption } from './verifier.ts'

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
    'each checkpoint. The first event that differs is named, with what happened there: an event was changed, is missing or was',
    'added, or the log was truncated; and the first checkpoint that the log does not lead to, with the last one that it does.',
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
    const verdict = await verify({ log, pool: open.pool({ max: 3 }), signal, progress }, verifiers, given)
    return {
      json: verdictJson(verdict),
      text: verdictText(verdict),
      problem: isValid(verdict) ? undefined : 'The log is not proven.',
      exitCode: exitDifferent,
    }
  },
})

async function verify(
  whole: WholeLog,
  verifiers: readonly VerifierKey[],
  given: OpenedCheckpoints,
): Promise<LogVerdict> {
  const { log, pool } = whole
  // Before the log is read, so that the log has at least the events of the tree and of the checkpoints.
  const { size: treeSize } = await readTree(pool)
  const newest = await newestCheckpoint(pool)
  let checkpoints = 0
  let proven: LogVerdict['proven']
  let wrong: LogVerdict['wrong']
  let treeProblem: string | undefined
  const invalid = [...given.invalid]
  const stored = storedCheckpoints(pool, verifiers, { upTo: newest?.size ?? 0, onInvalid: (one) => invalid.push(one) })
  const { difference, ...compared } = await compareLog({
    log: leavesOf(whole),
    stored: storedLeaves(pool, treeSize, (problem) => {
      treeProblem = problem
    }),
    checkpoints: mergeBySize(stored, given.signed),
    isSame: (leaf, { hash }) => leaf.hash.equals(hash),
    onCheckpoint(by, isRight, event) {
      if (!isRight) wrong ??= { by, lastRight: proven }
      else {
        checkpoints++
        proven = { event, by }
      }
    },
  })
  const missing = difference?.kind === 'missing' ? await findMissing(log, difference.after) : undefined
  const earlier = await earlierCheckpoints(pool)
  return { ...compared, leaf: difference, checkpoints, proven, wrong, treeProblem, treeSize, missing, invalid, earlier }
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

/** Events that are read on, and their streams whose previous event is looked up. */
const [maxEvents, maxStreams] = [1_000, 200]

/**
 * Which event is missing from the log, of which the tree has only the hash: looks for a stream that continues after the gap
 * with a revision too high.
 * @returns undefined when none of the next streams has a gap: the event was the last one of its stream, or its only one
 */
async function findMissing(log: RawClient, after: EventName | null): Promise<MissingEvent | undefined> {
  const commit = BigInt(after?.position ?? 0)
  const read = createPageReader(log, undefined)
  const { events } = await read(after === null ? undefined : { commit, prepare: commit }, maxEvents)
  const next = new Map(events.toReversed().map(({ stream, revision }) => [stream, revision]))
  const streams = [...new Set(events.map(({ stream }) => stream))].slice(0, maxStreams)
  for (const stream of streams) {
    const revision = (next.get(stream) ?? 0n) - 1n
    const [found] = revision < 0n ? [] : (await readStreamPage(log, stream, revision, 1)).events
    // The stream may hide its events from readers.
    if (found !== undefined && found.revision !== revision) return { stream, revision: String(revision) }
  }
  return undefined
}
