// `streams export`: writes recorded events as ndjson, with a manifest to verify the file.
import { coverageText, findCheckpoint } from '@paylog/audit-log/exportCheckpoint'
import { ConfigError } from '@paylog/config/environment'
import type { RawClient } from '@paylog/event-store/connection/calls'
import { exportLog, type ExportProgress as LogProgress } from '@paylog/event-store/export/exportLog'
import { readExportHead, readExportPage } from '@paylog/event-store/export/exportPage'
import type { ExportFilters } from '@paylog/event-store/export/filters'
import { type Manifest, type ManifestCheckpoint, manifestOf } from '@paylog/event-store/export/manifest'
import type { IntendedDeed } from '@paylog/workflows/auditTrail'
import { withAuditTree } from '../audit/auditTree.ts'
import { auditCommand, readAuditReason, reasonHelp, reasonOption } from '../audit.ts'
import { type CliCommand, type CommandContext, messageOf, readArguments, UsageError } from '../command.ts'
import {
  type CliProgress,
  type CliProgressOutput,
  createProgress,
  createProgressBar,
  createReportWriter,
} from '../progress.ts'
import { timeLeft } from '../timeLeft.ts'
import { createExportFile, type ExportFile, requireFreePaths } from './exportFile.ts'
import { categoryWarning, filterOptions, openRawLog, parseFilters, untilInterrupted } from './exportSelection.ts'
import { createSha256 } from './openExport.ts'

export const streamsExport: CliCommand = {
  usage: '--out FILE [--category C] [--stream S] [--type T] [--since T] [--until T] [--force] [--reason TEXT] [--json]',
  summary: 'Export recorded events as ndjson in the order of the log, with FILE.manifest.json beside it',
  details: [
    '  --out FILE     written completely or not at all, readable by its owner only',
    '  --category C   streams of this category: the part of the name before the first dash, such as payment',
    '  --stream S     one stream',
    '  --type T       events of this type, such as PaymentSucceeded',
    '  --since T      recorded at this time or later: 2026-11-01T00:00:00Z, or an age such as 90m, 24h, 7d',
    '  --until T      recorded before this time, which must be at least 10 s ago',
    '  --force        replaces existing files',
    reasonHelp,
    '  --json         prints the manifest',
    '',
    'Events are exported as recorded, also those that this program cannot read: JSON unchanged, anything else in base64 as',
    'data_base64 or metadata_base64. System streams (their names begin with $) and stream metadata are not exported.',
    '',
    'The same filters over the same part of the log always give the same bytes; with --until also after the log has grown.',
    'The manifest names the signed checkpoint of the log that covers the export, if there is one yet (DATABASE_URL).',
    '`streams verify-export FILE` checks a file against its manifest, the checkpoint and the log.',
    '',
    'When interrupted, it exits with 1 and leaves no file.',
  ].join('\n'),
  async run(args, context) {
    const { environment, print, errors } = context
    const { values } = readArguments(args, [], {
      ...filterOptions,
      out: { type: 'string' },
      force: { type: 'boolean' },
      ...reasonOption,
      json: { type: 'boolean' },
    })
    const { out } = values
    if (out === undefined || out === '') throw new UsageError('--out is missing')
    const filters = parseFilters(values, Date.now())
    const replaces = values.force === true
    const reason = readAuditReason(values.reason)
    requireFreePaths(out, { replaces })
    const log = openRawLog(environment)
    const warning = categoryWarning(filters)
    if (warning !== undefined) errors.write(`Warning: ${warning}\n`)
    const progress = createExportProgress(errors)
    const { conclude } = createReportWriter(progress, print)
    try {
      const manifest = await untilInterrupted({ log, errors }, 'Interrupted: nothing was written.', async (signal) => {
        const file = await createExportFile(out, { replaces })
        try {
          const audit = () => auditCommand(context, reason, exportDeed(filters))
          const written = await exportTo(file, { log, filters, progress, signal, audit, environment, errors })
          signal.throwIfAborted()
          await file.publish(written)
          return written
        } finally {
          await file.discard()
        }
      })
      await conclude(values.json ? JSON.stringify(manifest) : exportSummaryText(out, manifest))
    } finally {
      progress.end()
    }
  },
}

function exportDeed({ stream, ...details }: ExportFilters): IntendedDeed {
  const target = stream === null ? null : { kind: 'stream', id: stream }
  return { action: 'export_log', target, details }
}

type ExportRun = {
  readonly log: RawClient
  readonly filters: ExportFilters
  readonly progress: CliProgress<ExportProgress>
  readonly signal: AbortSignal
  readonly audit: () => Promise<void>
} & Pick<CommandContext, 'environment' | 'errors'>

async function exportTo(file: ExportFile, run: ExportRun): Promise<Manifest> {
  const { log, filters, progress, signal, audit } = run
  const head = await readExportHead(log, filters.until, (events) => {
    progress.show({ phase: 'looking', events })
    return false
  })
  // Once the end is known, so that an export does not contain its own record.
  await audit()
  return await exportLog(
    { fetchPage: (request) => readExportPage(log, request), filters, head: head?.commit.toString() ?? null, signal },
    {
      hash: createSha256(),
      write: file.write,
      onProgress: (news) => progress.show(shownProgress('exporting', news)),
      findCheckpoint: (last, count) => checkpointOf(run, BigInt(last), count),
    },
  )
}

const noCheckpointText = 'Its manifest names no checkpoint: none covers it yet, or DATABASE_URL is not set.'

/** An export without a checkpoint is one too: then a failure is a warning. */
async function checkpointOf(
  { environment, errors, progress, filters }: ExportRun,
  last: bigint,
  count: number,
): Promise<ManifestCheckpoint | null> {
  // Otherwise the tree says it, once it has the last event.
  const isWhole = Object.values(filters).every((filter) => filter === null)
  const part = { last, count, ...(isWhole && { isFromStart: true }) }
  try {
    return await withAuditTree(environment, errors, (pool) => findCheckpoint(pool, part))
  } catch (error) {
    if (error instanceof ConfigError) return null
    progress.clear()
    errors.write(`Warning: the manifest names no checkpoint. ${messageOf(error)}\n`)
    return null
  }
}

function exportSummaryText(
  out: string,
  { count, bytes, first_position, last_position, head, sha256, checkpoint }: Manifest,
): string {
  const range = count === 0 ? '' : `, positions ${first_position} to ${last_position}`
  const covered = head === null ? 'the log has no events in that time' : `of the log up to position ${head}`
  return [
    `${out}: ${count === 1 ? '1 event' : `${count} events`}${range}, ${covered}; ${bytes} bytes, SHA-256 ${sha256}`,
    checkpoint === null ? noCheckpointText : coverageText(checkpoint, count),
    `${manifestOf(out)} is its manifest. \`streams verify-export ${out}\` checks the export.`,
  ].join('\n')
}

/** How the command line shows the progress of an export or a comparison. */
export function shownProgress(phase: keyof typeof titles, { events, position, head }: LogProgress): ExportProgress {
  return { phase, events, position: BigInt(position ?? 0), head: BigInt(head ?? 0) }
}

export type ExportProgress =
  /** Reading backwards from the end of the log to find where the export ends. */
  | { readonly phase: 'looking'; readonly events: number }
  | {
      readonly phase: keyof typeof titles
      /** Written, or compared. */
      readonly events: number
      /** In the log. */
      readonly position: bigint
      /** Where the export ends. */
      readonly head: bigint
    }

const titles = {
  exporting: 'Exporting',
  copying: 'Copying',
  comparing: 'Comparing',
  verifying: 'Verifying',
} as const

export function createExportProgress(output: CliProgressOutput, now?: () => number): CliProgress<ExportProgress> {
  const bar = createProgressBar(output)
  return createProgress<ExportProgress>(
    output,
    (progress, elapsedMs) => exportProgressText(progress, elapsedMs, bar),
    now,
  )
}

function exportProgressText(progress: ExportProgress, elapsedMs: number, bar: (part: number) => string): string {
  const { events } = progress
  const rate = elapsedMs > 0 ? [`${Math.round((events * 1_000) / elapsedMs)}/s`] : []
  if (progress.phase === 'looking') return [`Finding the end: ${events} later events`, ...rate].join(', ')
  const { phase, position, head } = progress
  const part = head > 0n ? Math.min(Number((position * 1_000n) / head) / 1_000, 1) : 1
  const left = timeLeft(part, elapsedMs)
  return [
    `${titles[phase]}: ${bar(part)}${Math.floor(part * 100)} %, ${events} events`,
    ...rate,
    ...(left === undefined ? [] : [left]),
  ].join(', ')
}
