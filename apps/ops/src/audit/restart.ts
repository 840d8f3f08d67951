// `audit restart`: builds the tree again from a log that has changed since it was signed, and keeps what was signed.
import { endCheckpoints, restartTree } from '@paylog/audit-log/treeWriter'
import { readLogEnd } from '@paylog/event-store/read/reads'
import type { IntendedAction } from '@paylog/runtime/http/guardRoutes'
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import { OpsError, UsageError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { flag } from '../options.ts'
import { logProgress } from '../progressLine.ts'
import type { Pool } from '../system.ts'
import { openSigned } from './checkpoints.ts'
import { endRemembered } from './stateFile.ts'
import { compareTree, type TreeState } from './treeState.ts'
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
    const head = (await readLogEnd(log))?.position.commit ?? 0n
    const onEvent = (position: bigint, events: number) =>
      progress.show(logProgress('Verifying', { events, position, head }))
    const verifiers = readVerifiers(undefined, environment)
    const isSigned = (note: string) => verifiers.length === 0 || !('reason' in openSigned(note, '', verifiers))
    const state = await compareTree({ log, pool, isSigned, signal, onEvent })
    if (state.problem === undefined && state.wrong.length === 0)
      throw new OpsError('The tree is in order: tree and checkpoints are those of the log. Nothing was changed.')
    if (isDryRun) return { json: stateJson(state, true), text: stateText(state, true) }
    signal.throwIfAborted()
    await audit(restartAction(state))
    // First: while Postgres disagrees, nothing is signed, and the command can be repeated.
    const hasStateFile = endRemembered(environment, state.newestRight)
    await restart(pool, state)
    const text = stateText(state, false)
    return { json: stateJson(state, false), text: hasStateFile ? text : `${text}\n${withoutStateFile}` }
  },
})

const withoutStateFile =
  'AUDIT_STATE_FILE is not set here. If the projector has one, stop it, move the file away, and start it again. A newer\n' +
  'checkpoint at AUDIT_CHECKPOINT_URL (latest) has to be moved away too.'

const restart = (pool: Pool, { wrong, compared }: TreeState) =>
  inTransaction(pool, async (client) => {
    await endCheckpoints(client, { sizes: wrong.map(({ size }) => size), compared })
    await restartTree(client)
  })

function restartAction({ events, problem, wrong, right }: TreeState): IntendedAction {
  const [first] = wrong
  const sizes = { smallest_ended: first?.size ?? null, largest_ended: wrong.at(-1)?.size ?? null }
  const details = { events, problem: problem ?? null, ended: wrong.length, ...sizes, kept: right }
  return { action: 'restart_audit_tree', target: null, details }
}

const stateJson = ({ events, problem, wrong, right }: TreeState, isDryRun: boolean) => {
  return { dry_run: isDryRun, events, problem: problem ?? null, ended: wrong, kept: right }
}

function stateText({ events, problem, wrong, right }: TreeState, isDryRun: boolean): string {
  const ended = wrong.length === 1 ? '1 checkpoint' : `${wrong.length} checkpoints`
  const setAside = isDryRun ? 'Would set aside' : 'Set aside'
  return [
    ...(problem === undefined ? [] : [`${problem}.`]),
    wrong.length === 0 ? 'No checkpoint contradicts the log.' : `${setAside} ${ended} that the log does not match:`,
    ...checkpointLines(wrong),
    right === 1 ? '1 checkpoint matches the log and stays.' : `${right} checkpoints match the log and stay.`,
    isDryRun
      ? `Nothing was changed. The tree would be built again from the ${events} events of the log.`
      : `The projector builds the tree again from the ${events} events of the log, and signs.`,
  ].join('\n')
}
