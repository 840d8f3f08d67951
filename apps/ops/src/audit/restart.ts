// `audit restart`: builds the tree again from a log that has changed since it was signed, and keeps what was signed.
import { endCheckpoints, restartTree } from '@paylog/audit-log/treeWriter'
import type { RawClient } from '@paylog/event-store/connection/calls'
import { readLogEnd } from '@paylog/event-store/read/reads'
import { inTransaction } from '@paylog/runtime/postgres/transaction'
import type { IntendedDeed } from '@paylog/workflows/auditTrail'
import { auditCommand, readAuditReason, reasonHelp, reasonOption } from '../audit.ts'
import { type CliCommand, OpsError, readArguments, UsageError } from '../command.ts'
import type { Pool } from '../database.ts'
import { type CliProgress, createReportWriter } from '../progress.ts'
import { createExportProgress, type ExportProgress } from '../streams/export.ts'
import { openRawLog, untilInterrupted } from '../streams/exportSelection.ts'
import { withAuditTree } from './auditTree.ts'
import { compareTree, type TreeState } from './treeState.ts'
import { checkpointLines } from './verdict.ts'

export const auditRestart: CliCommand = {
  usage: '--reason TEXT [--dry-run] [--json]',
  summary: 'Build the tree again, after the log was cut, restored or replaced',
  details: [
    `${reasonHelp}; required, except with --dry-run`,
    '  --dry-run      only shows what is wrong, and which checkpoints would be set aside',
    '  --json         one object: dry_run, events, problem, ended (the checkpoints that are set aside) and kept (how many are not)',
    '',
    'The projector stops at a log that is not that of its tree, and signs nothing. Find out first what happened to the log:',
    '`audit verify`. This command accepts the log as it is. It reads the whole log, sets aside the checkpoints that do not',
    'match it, and forgets the tree. The projector builds it again from the start of the log, and signs.',
    '',
    'Nothing that was signed is deleted: `audit verify` names the checkpoints that were set aside. Those that match the log stay,',
    'and the new tree has to extend them.',
    '',
    'Exits with 1 when the tree is in order, and nothing was done.',
  ].join('\n'),
  async run(args, context) {
    const { environment, print, errors } = context
    const { values } = readArguments(args, [], {
      ...reasonOption,
      'dry-run': { type: 'boolean' },
      json: { type: 'boolean' },
    })
    const reason = readAuditReason(values.reason)
    const isDryRun = values['dry-run'] === true
    if (reason === null && !isDryRun) throw new UsageError('--reason is missing: what happened to the log')
    const log = openRawLog(environment)
    const progress = createExportProgress(errors)
    const { conclude } = createReportWriter(progress, print)
    try {
      await untilInterrupted({ log, errors }, 'Interrupted: nothing was changed.', (signal) =>
        withAuditTree(environment, errors, async (pool) => {
          const state = await readState({ log, pool, progress, signal })
          if (state.problem === undefined && state.wrong.length === 0)
            throw new OpsError('The tree is in order: tree and checkpoints are those of the log. Nothing was changed.')
          if (!isDryRun) {
            signal.throwIfAborted()
            await auditCommand(context, reason, restartDeed(state))
            await restart(pool, state)
          }
          await conclude(values.json ? stateJson(state, isDryRun) : stateText(state, isDryRun))
        }),
      )
    } finally {
      progress.end()
    }
  },
}

async function readState(options: {
  readonly log: RawClient
  readonly pool: Pool
  readonly progress: CliProgress<ExportProgress>
  readonly signal: AbortSignal
}): Promise<TreeState> {
  const { log, progress } = options
  const head = (await readLogEnd(log))?.position.commit ?? 0n
  const onEvent = (position: bigint, events: number) => progress.show({ phase: 'verifying', events, position, head })
  return await compareTree({ ...options, onEvent })
}

const restart = (pool: Pool, { wrong, compared }: TreeState) =>
  inTransaction(pool, async (client) => {
    await endCheckpoints(client, { sizes: wrong.map(({ size }) => size), compared })
    await restartTree(client)
  })

function restartDeed({ events, problem, wrong, right }: TreeState): IntendedDeed {
  const [first] = wrong
  const sizes = { smallest_ended: first?.size ?? null, largest_ended: wrong.at(-1)?.size ?? null }
  const details = { events, problem: problem ?? null, ended: wrong.length, ...sizes, kept: right }
  return { action: 'restart_audit_tree', target: null, details }
}

const stateJson = ({ events, problem, wrong, right }: TreeState, isDryRun: boolean) =>
  JSON.stringify({ dry_run: isDryRun, events, problem: problem ?? null, ended: wrong, kept: right })

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
