// `streams export`: writes recorded events as ndjson, with a manifest to verify the file.
import { coverageText, findCheckpoint } from '@paylog/audit-log/exportCheckpoint'
import type { RawClient } from '@paylog/event-store/connection/calls'
import { exportLog } from '@paylog/event-store/export/exportLog'
import { readExportHead, readExportPage } from '@paylog/event-store/export/exportPage'
import { type ExportFilters, filterProblem } from '@paylog/event-store/export/filters'
import { type Manifest, type ManifestCheckpoint, manifestOf } from '@paylog/event-store/export/manifest'
import { categories } from '@paylog/event-store/streamName'
import { ConfigError } from '@paylog/runtime/config/environment'
import type { IntendedAction } from '@paylog/runtime/http/guardRoutes'
import { messageOf, UsageError } from '../command.ts'
import { defineCommand, type Run } from '../defineCommand.ts'
import { flag, type ReadOptions, required, text, time } from '../options.ts'
import { logProgress } from '../progressLine.ts'
import { counted } from '../texts.ts'
import { createExportFile, createSha256, type ExportFile, requireFreePaths } from './exportFile.ts'

const filterOptions = {
  category: text('C', 'streams of this category: the part of the name before the first dash, such as payment'),
  stream: text('S', 'one stream'),
  type: text('T', 'events of this type, such as PaymentSucceeded'),
  since: time('recorded at this time or later'),
  until: time('recorded before this time, which must be at least 10 s ago'),
}

export const streamsExport = defineCommand({
  summary: 'Export recorded events as ndjson in the order of the log, with FILE.manifest.json beside it',
  options: {
    out: required(text('FILE', 'written completely or not at all, readable by its owner only')),
    ...filterOptions,
    force: flag('replaces existing files'),
  },
  audited: 'reason',
  json: 'prints the manifest',
  about: [
    'Events are exported as recorded, also those that this program cannot read: JSON unchanged, anything else in base64 as',
    'data_base64 or metadata_base64. System streams (their names begin with $) and stream metadata are not exported.',
    '',
    'The same filters over the same part of the log always give the same bytes; with --until also after the log has grown.',
    'The manifest names the signed checkpoint of the log that covers the export, if there is one yet (DATABASE_URL).',
    '`streams verify-export FILE` checks a file against its manifest, the checkpoint and the log.',
    '',
    'When interrupted, it exits with 1 and leaves no file.',
  ],
  onInterrupt: 'Interrupted: nothing was written.',
  async run(call) {
    const { options, open, errors, signal } = call
    const { out, force: replaces } = options
    if (out === '') throw new UsageError('--out is missing')
    const filters = readFilters(options, Date.now())
    requireFreePaths(out, { replaces })
    const log = await open.rawLog(signal)
    const warning = categoryWarning(filters)
    if (warning !== undefined) errors.write(`Warning: ${warning}\n`)
    const file = await createExportFile(out, { replaces })
    try {
      const manifest = await exportTo(file, { ...call, log, filters })
      signal.throwIfAborted()
      await file.publish(manifest)
      return { json: manifest, text: exportSummaryText(out, manifest) }
    } finally {
      await file.discard()
    }
  },
})

/** @param now in ms since 1970 @throws UsageError */
function readFilters(given: ReadOptions<typeof filterOptions>, now: number): ExportFilters {
  const { category = null, stream = null, type = null } = given
  const [since = null, until = null] = [given.since, given.until].map(timeText)
  const filters = { category, stream, type, since, until }
  const problem = filterProblem(filters, now)
  if (problem !== undefined) throw new UsageError(`--${problem.field} ${problem.message}`)
  return filters
}

const timeText = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString())

/** A warning for a probably mistyped category. */
function categoryWarning({ category }: ExportFilters): string | undefined {
  if (category === null || categories.some((known) => known === category)) return undefined
  return `Paylog has no category ${category}. It has ${categories.join(', ')}.`
}

function exportAction({ stream, ...details }: ExportFilters): IntendedAction {
  const target = stream === null ? null : { kind: 'stream', id: stream }
  return { action: 'export_log', target, details }
}

type ExportRun = Run & { readonly log: RawClient; readonly filters: ExportFilters }

async function exportTo(file: ExportFile, run: ExportRun): Promise<Manifest> {
  const { log, filters, progress, signal, audit } = run
  const head = await readExportHead(log, filters.until, (done) => {
    progress.show({ step: 'Finding the end', done, unit: 'later events' })
    return false
  })
  // Once the end is known, so that an export does not contain its own record.
  await audit(exportAction(filters))
  return await exportLog(
    { fetchPage: (request) => readExportPage(log, request), filters, head: head?.commit.toString() ?? null, signal },
    {
      hash: createSha256(),
      write: file.write,
      onProgress: (state) => progress.show(logProgress('Exporting', state)),
      findCheckpoint: (last, count) => checkpointOf(run, BigInt(last), count),
    },
  )
}

const noCheckpointText = 'Its manifest names no checkpoint: none covers it yet, or DATABASE_URL is not set.'

/** An export without a checkpoint is one too: then a failure is a warning. */
async function checkpointOf(
  { open, errors, progress, filters }: ExportRun,
  last: bigint,
  count: number,
): Promise<ManifestCheckpoint | null> {
  // Otherwise the tree says it, once it has the last event.
  const isWhole = Object.values(filters).every((filter) => filter === null)
  const part = { last, count, ...(isWhole && { isFromStart: true }) }
  try {
    return await findCheckpoint(open.pool(), part)
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
    `${out}: ${counted(count, 'event')}${range}, ${covered}; ${bytes} bytes, SHA-256 ${sha256}`,
    checkpoint === null ? noCheckpointText : coverageText(checkpoint, count),
    `${manifestOf(out)} is its manifest. \`streams verify-export ${out}\` checks the export.`,
  ].join('\n')
}
