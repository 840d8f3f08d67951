// `products import`: creates and updates products, one per line of a file.
import { randomUUID } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { loadConfig } from '@paylog/config/environment'
import { url } from '@paylog/config/kinds'
import { DomainError } from '@paylog/domain/errors'
import { noDataKeys } from '@paylog/event-store/codec/dataKeys'
import { createEventStore } from '@paylog/event-store/eventStore'
import { readLines } from '@paylog/event-store/export/lines'
import { Type } from 'typebox'
import { auditOn, readAuditReason, reasonHelp, reasonOption } from '../audit.ts'
import { type CliCommand, OpsError, readArguments } from '../command.ts'
import {
  type CliProgress,
  type CliProgressOutput,
  createProgress,
  createProgressBar,
  createReportWriter,
  type ReportWriter,
} from '../progress.ts'
import { timeLeft } from '../timeLeft.ts'
import { withInterrupt } from '../withInterrupt.ts'
import { type ImportedLine, type ImportLog, importLines } from './importLines.ts'
import {
  createImportTally,
  createWarningCheck,
  type ImportTally,
  rejectionJson,
  rejectionText,
  rememberedIds,
  warningJson,
  warningText,
} from './importReport.ts'
import { maxLineBytes } from './productLine.ts'

const Config = Type.Object({ EVENTSTORE_URL: url(['esdb', 'esdb+discover']) })

export const productsImport: CliCommand = {
  usage: 'FILE.ndjson|- [--reason TEXT] [--json]',
  summary: 'Create and update products from a file with one JSON object per line',
  details: `\
  -              reads standard input
${reasonHelp}
  --json         one object per rejected or doubtful line, then one with the counts

Each line is one product, a JSON object in UTF-8 of at most 256 KiB. Empty lines are skipped.
  {"name":"Mug","product_type":"physical","currency":"EUR","total_cents":1250}
  {"id":"0198f2a0-5b1e-7c3d-8e4f-a1b2c3d4e5f6","name":"Backup","product_type":"subscription","currency":"EUR",\
"subtotal_cents":1000,"tax_cents":190,"is_recurring":true,"billing_interval":"month","trial_days":14}
The fields and rules are those of POST /admin/products:
  name, product_type (physical, digital, service, subscription), currency and total_cents or subtotal_cents are
  required; description, tax_cents, discount_cents, is_recurring, billing_interval (day, week, month, year; required
  when is_recurring), trial_days, category_id and is_active are optional.
Unknown fields are ignored and reported as a warning, because they may be misspelt. The read-only fields of API
responses (created_at, updated_at) are ignored silently.

A line with an id (a UUID of your choice; null means no id) is the whole product: the product is added, or its differing
fields are changed, and fields that the line omits become empty. Only is_active keeps its value when omitted;
"is_active":false takes the product out of the catalogue. Lines with the same id apply in their order. A line that
changes the product of an earlier line is reported, unless ${rememberedIds} or more lines with ids lie between.
A line without an id only adds a product, once for all lines with the same content. It never changes that product. A line
with other content, such as a corrected line, adds another product. To change products, give them ids.

It may be interrupted and repeated at any time: nothing is added twice. It continues when the reader of its report has
gone. Exits with 0 when all lines were imported, doubtful ones included; with 2 when lines were rejected and the others
were imported; with 1 when it did not reach the end of the file.`,
  async run(args, { environment, print, errors, input }) {
    const { values, positionals } = readArguments(args, ['FILE'], { ...reasonOption, json: { type: 'boolean' } })
    const reason = readAuditReason(values.reason)
    const { EVENTSTORE_URL } = loadConfig(Config, environment)
    const file = await openImportFile(positionals[0], input)
    // Products have no personal data.
    const store = createEventStore({ connectionString: EVENTSTORE_URL, keys: noDataKeys })
    const progress = createImportProgress(errors)
    try {
      await auditOn(store, reason, { action: 'import_products', target: null })
      const log = { store, now: () => new Date() }
      await withInterrupt(errors, (signal) =>
        importProducts(log, {
          file,
          isJson: values.json === true,
          ...createReportWriter(progress, print),
          onProgress: progress.show,
          signal,
        }),
      )
    } finally {
      progress.end()
      file.close()
      await store.close()
    }
  },
}

export type ImportFile = {
  /** Read errors are OpsErrors. Ends with an error when the signal aborts. */
  bytes(signal: AbortSignal): AsyncIterable<Buffer>
  /** In bytes. Undefined unless it is a regular file. */
  readonly size: number | undefined
  close(): void
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
}

/**
 * @param path `-` for standard input
 * @param input standard input
 * @throws OpsError when it cannot be read
 */
export async function openImportFile(path: string, input: Readable): Promise<ImportFile> {
  if (path === '-') return fileOf('Standard input', input, undefined)
  const name = resolve(path)
  const handle = await open(name).catch((error: unknown) => throwReadError(name, error))
  const size = await sizeOf(name, handle)
  return fileOf(name, handle.createReadStream(), size)
}

async function sizeOf(name: string, handle: FileHandle): Promise<number | undefined> {
  const stats = await handle.stat()
  if (stats.isDirectory()) {
    await handle.close()
    throw new OpsError(`${name} is a directory`)
  }
  // Virtual files, such as those in /proc, report size 0.
  return stats.isFile() && stats.size > 0 ? stats.size : undefined
}

function fileOf(name: string, stream: Readable, size: number | undefined): ImportFile {
  return {
    async *bytes(signal) {
      try {
        yield* addAbortSignal(signal, stream)
      } catch (error) {
        throwReadError(name, error)
      }
    },
    size,
    close: () => void stream.destroy(),
  }
}

function throwReadError(name: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = reasons[code] ?? `cannot be read: ${error instanceof Error ? error.message : String(error)}`
  throw new OpsError(`${name} ${reason}`, { cause: error })
}

export type ImportProgress = {
  readonly phase: 'importing'
  /** Lines done so far. */
  readonly lines: number
  /** Bytes read up to there. */
  readonly bytes: number
  /** The size of the file, if known. */
  readonly of: number | undefined
}

export function createImportProgress(output: CliProgressOutput, now?: () => number): CliProgress<ImportProgress> {
  const bar = createProgressBar(output)
  return createProgress<ImportProgress>(
    output,
    (progress, elapsedMs) => importProgressText(progress, elapsedMs, bar),
    now,
  )
}

function importProgressText(progress: ImportProgress, elapsedMs: number, bar: (part: number) => string): string {
  const { lines, bytes, of } = progress
  // The file may grow while it is read.
  const part = of === undefined ? undefined : Math.min(bytes / of, 1)
  const left = timeLeft(part ?? 0, elapsedMs)
  return [
    `Importing: ${part === undefined ? '' : `${bar(part)}${Math.floor(part * 100)} %, `}${lines} lines`,
    ...(elapsedMs > 0 ? [`${Math.round((lines * 1_000) / elapsedMs)}/s`] : []),
    ...(left === undefined ? [] : [left]),
  ].join(', ')
}

const exitRejected = 2

export type ImportRun = ReportWriter & {
  readonly file: ImportFile
  readonly isJson: boolean
  readonly onProgress: (progress: ImportProgress) => void
  readonly signal: AbortSignal
}

/**
 * Prints every rejected or doubtful line, then the counts, also after an interruption.
 * @throws OpsError when a line was rejected; UnreadableEventError; DomainError `event_store_unavailable` before the
 * first line
 */
export async function importProducts(log: ImportLog, run: ImportRun): Promise<void> {
  // Fails here when the store is down, instead of rejecting the first lines.
  await log.store.head()
  const tally = createImportTally()
  let isWhole = false
  try {
    isWhole = await importAll(log, tally, run)
  } catch (error) {
    if (!(error instanceof DomainError || error instanceof OpsError)) throw error
    throw new OpsError(stoppedText(tally, error.message), { cause: error })
  } finally {
    await run.conclude(run.isJson ? JSON.stringify(tally.json(isWhole)) : tally.text())
  }
  if (!isWhole) throw new OpsError(stoppedText(tally, 'Interrupted'))
  const rejected = tally.rejected()
  if (rejected === 0) return
  const lines = rejected === 1 ? '1 line was' : `${rejected} lines were`
  throw new OpsError(`${lines} rejected. Correct the file and import it again.`, { exitCode: exitRejected })
}

function stoppedText(tally: ImportTally, reason: string): string {
  const line = tally.lastLine()
  const known = line === 0 ? 'It is not known whether any line was imported' : `Every line up to ${line} is done`
  return `${reason}. ${known}. Import the file again: nothing is added twice.`
}

/** @returns false when it was interrupted before the end of the file */
async function importAll(log: ImportLog, tally: ImportTally, run: ImportRun): Promise<boolean> {
  const { file, isJson, writeLine, onProgress, signal } = run
  const show = (bytes: number) => onProgress({ phase: 'importing', lines: tally.lines(), bytes, of: file.size })
  let isWhole = false
  async function* lines() {
    yield* readLines(file.bytes(signal), { maxBytes: maxLineBytes, signal, onSkipped: show })
    isWhole = !signal.aborted
  }
  const id = randomUUID()
  const metadata = { correlationId: id, causationId: id, actor: 'operator' }
  const watch = createWarningCheck()
  async function report(settled: ImportedLine): Promise<void> {
    const { line } = settled
    const warnings = watch(settled)
    tally.add(settled, warnings)
    show(settled.end)
    if (settled.outcome === 'rejected')
      await writeLine(isJson ? JSON.stringify(rejectionJson(settled)) : rejectionText(settled))
    for (const warning of warnings)
      await writeLine(isJson ? JSON.stringify(warningJson(line, warning)) : warningText(line, warning))
  }
  show(0)
  for await (const settled of importLines(log, lines(), metadata)) await report(settled)
  if (isWhole) show(file.size ?? 0)
  return isWhole
}
