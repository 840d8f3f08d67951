// `audit restart`: builds the tree again from a log that has changed since it was signed, and keeps what was signed.
import {
  newestCheckpoint,
  readCheckpoints,
  readTree,
  type StoredCheckpoint,
  type StoredTree,
} from '@paylog/audit-log/treeStore'
import { endCheckpoints, restartTree } from '@paylog/audit-log/treeWriter'
import type { RawClient } from '@paylog/event-store/connection/calls'
import { isInLog } from '@paylog/event-store/read/reads'
import type { IntendedAction } from '@paylog/runtime/http/guardRoutes'
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import { OpsError, UsageError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { flag } from '../options.ts'
import { counted } from '../texts.ts'
import { endRemembered, openSigned } from './checkpoints.ts'
import { compareLog, type LeafDifference, leavesOf, storedLeaves, type WholeLog } from './compareLog.ts'
import { checkpointLines } from './verdict.ts'
import { readVerifiers } from './verifier.ts'

export const auditRestart = defineCommand({
  summary: 'Build the tree again, after the log was cut, restored or replaced',
  usage: '--reason TEXT [--dry-run] [--json]',
  options: { 'dry-run': flag('only shows what is wrong, and which checkpoints would be set aside; needs no --reason') },
  audited: 'reason',
  json: 'one object: dry_run, events, problem, ended (the checkpoints that are set aside) and kept (how many are not)',
  about: [
    'The projector stops at a log that is not that of its tree, and signs nothing. Find out first what happened to the log:',
    '`audit verify`. This command accepts the log as it is. It reads the whole log, sets aside the checkpoints that do not',
    'match it, and forgets the tree. The projector builds it again from the start of the log, and signs.',
    '',
    'Nothing that was signed is deleted: `audit verify` names the checkpoints that were set aside. Those that match the log stay,',
    'and the new tree has to extend them. What the log, AUDIT_CHECKPOINT_URL and AUDIT_STATE_FILE remember of the ended tree does',
    'not count any more: set AUDIT_STATE_FILE as for the projector.',
    '',
    'Exits with 1 when the tree is in order, and nothing was done.',
  ],
  onInterrupt: 'Interrupted: nothing was changed.',
  async run({ options, reason, environment, open, progress, signal, audit }) {
    const isDryRun = options['dry-run']
    if (reason === null && !isDryRun) throw new UsageError('--reason is missing: what happened to the log')
    const log = await open.rawLog(signal)
    const pool = open.pool({ max: 3 })
    const verifiers = readVerifiers(undefined, environment)
    const isSigned = (note: string) => verifiers.length === 0 || !('reason' in openSigned(note, '', verifiers))
    const state = await compareTree({ log, pool, signal, progress }, isSigned)
    const { events, problem, ended, kept, newestKept, compared } = state
    if (problem === null && ended.length === 0)
      throw new OpsError('The tree is in order: tree and checkpoints are those of the log. Nothing was changed.')
    const json = { dry_run: isDryRun, events, problem, ended, kept }
    const text = stateText(state, isDryRun)
    if (isDryRun) return { json, text }
    signal.throwIfAborted()
    await audit(restartAction(state))
    // First: while Postgres disagrees, nothing is signed, and the command can be repeated.
    const hasStateFile = endRemembered(environment, newestKept)
    await inTransaction(pool, async (client) => {
      await endCheckpoints(client, { sizes: ended.map(({ size }) => size), compared })
      await restartTree(client)
    })
    return { json, text: hasStateFile ? text : `${text}\n${withoutStateFile}` }
  },
})

type TreeState = {
  /** Leaves of the log. */
  readonly events: number
  /** Why the stored tree is not that of the log, or why the projector signs nothing: a sentence without its full stop. */
  readonly problem: string | null
  /** The checkpoints that are not those of the log, by size. */
  readonly ended: readonly Pick<StoredCheckpoint, 'size' | 'made_at'>[]
  /** How many are, and the note of the largest of them. */
  readonly kept: number
  readonly newestKept: string | null
  /** The largest size of a checkpoint that was compared. */
  readonly compared: number
}

/** Reads the whole log once. @param isSigned whether a key of ours signed a note @throws the errors of the log and of Postgres */
async function compareTree(whole: WholeLog, isSigned: (note: string) => boolean): Promise<TreeState> {
  const { log, pool } = whole
  // Before the log is read, so that the log has at least the events of the tree and of the checkpoints.
  const tree = await readTree(pool)
  const compared = (await newestCheckpoint(pool))?.size ?? 0
  const ended: TreeState['ended'][number][] = []
  let [kept, newestKept]: [number, string | null] = [0, null]
  let problem: string | undefined
  const { events, difference } = await compareLog({
    log: leavesOf(whole),
    stored: storedLeaves(pool, tree.size, (reason) => {
      problem = `The stored tree is incomplete: ${reason}`
    }),
    checkpoints: readCheckpoints(pool, compared),
    // Commands find an event's leaf by its position.
    isSame: ({ hash, event }, stored) => hash.equals(stored.hash) && event.position === String(stored.position),
    onCheckpoint({ size, made_at, note }, isRight) {
      if (isRight && isSigned(note)) [kept, newestKept] = [kept + 1, note]
      else ended.push({ size, made_at })
    },
  })
  problem ??= difference && differenceText(difference, tree.size - events)
  problem ??= (await positionProblem(log, tree)) ?? tree.stoppedBecause ?? undefined
  return { events, problem: problem ?? null, ended, kept, newestKept, compared }
}

const differenceText = ({ kind, position }: LeafDifference, missing: number) =>
  kind === 'truncated'
    ? `The log ends before the stored tree: ${missing} of its events are missing`
    : `At position ${position} the log does not have the event of the stored tree`

/** The tree continues after the last event that it has read, leaf or not. */
async function positionProblem(log: RawClient, { position }: StoredTree): Promise<string | undefined> {
  if (position === undefined || (await isInLog(log, position))) return undefined
  return `The log does not have the last event that the tree has read, at position ${position.commit}`
}

const withoutStateFile =
  'AUDIT_STATE_FILE is not set here. If the projector has one, stop it, move the file away, and start it again. A newer\n' +
  'checkpoint at AUDIT_CHECKPOINT_URL (latest) has to be moved away too.'

function restartAction({ events, problem, ended, kept }: TreeState): IntendedAction {
  const sizes = { smallest_ended: ended[0]?.size ?? null, largest_ended: ended.at(-1)?.size ?? null }
  const details = { events, problem, ended: ended.length, ...sizes, kept }
  return { action: 'restart_audit_tree', target: null, details }
}

function stateText({ events, problem, ended, kept }: TreeState, isDryRun: boolean): string {
  const setAside = `${isDryRun ? 'Would set aside' : 'Set aside'} ${counted(ended.length, 'checkpoint')}`
  return [
    ...(problem === null ? [] : [`${problem}.`]),
    ended.length === 0 ? 'No checkpoint contradicts the log.' : `${setAside} that the log does not match:`,
    ...checkpointLines(ended),
    `${counted(kept, 'checkpoint matches the log and stays', 'checkpoints match the log and stay')}.`,
    isDryRun
      ? `Nothing was changed. The tree would be built again from the ${events} events of the log.`
      : `The projector builds the tree again from the ${events} events of the log, and signs.`,
  ].join('\n')
}
