// `products import`: creates and updates products, one per line of a file.
import { open as openFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import type { DomainError } from '@paylog/domain/errors'
import { readLines } from '@paylog/event-store/export/lines'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { operatorMetadata } from '../auditTrail.ts'
import { messageOf } from '../command.ts'
import { defineCommand, type Result, type Run } from '../defineCommand.ts'
import { cannotBeRead } from '../files.ts'
import { counted } from '../texts.ts'
import { type ImportedLine, type ImportLog, importLines } from './importLines.ts'
import { maxLineBytes } from './productLine.ts'

export const productsImport = defineCommand({
  summary: 'Create and update products from a file with one JSON object per line',
  args: ['FILE'],
  usage: 'FILE.ndjson|- [--reason TEXT] [--json]',
  audited: 'reason',
  json: 'one object per rejected line, then one with the counts',
  about: [
    'Each line is one product, a JSON object in UTF-8 of at most 256 KiB. Empty lines are skipped. - reads standard input.',
    '  {"name":"Mug","product_type":"physical","currency":"EUR","total_cents":1250}',
    '  {"id":"0198f2a0-5b1e-7c3d-8e4f-a1b2c3d4e5f6","name":"Backup","product_type":"subscription","currency":"EUR",' +
      '"subtotal_cents":1000,"tax_cents":190,"is_recurring":true,"billing_interval":"month","trial_days":14}',
    'The fields and rules are those of POST /admin/products:',
    '  name, product_type (physical, digital, service, subscription), currency and total_cents or subtotal_cents are',
    '  required; description, tax_cents, discount_cents, is_recurring, billing_interval (day, week, month, year; required',
    '  when is_recurring), trial_days, category_id and is_active are optional. Unknown fields are ignored.',
    '',
    'A line with an id (a UUID of your choice; null means no id) is the whole product: the product is added, or its differing',
    'fields are changed, and fields that the line omits become empty. Only is_active keeps its value when omitted;',
    '"is_active":false takes the product out of the catalogue. Lines with the same id apply in their order.',
    'A line without an id only adds a product, once for all lines with the same content. It never changes that product. A line',
    'with other content, such as a corrected line, adds another product. To change products, give them ids.',
    '',
    'It may be interrupted and repeated at any time: nothing is added twice. It continues when the reader of its report has',
    'gone. Exits with 0 when all lines were imported; with 2 when lines were rejected and the others were imported; with 1',
    'when it did not reach the end of the file.',
  ],
  onInterrupt: 'finishes',
  async run({ args, input, open, audit, ...call }) {
    const file = await openImportFile(args[0], input)
    try {
      const store = await open.store()
      await audit({ action: 'import_products', target: null })
      return await importProducts({ store, now: () => new Date() }, { ...call, file })
    } finally {
      file.close()
    }
  },
})

export type ImportFile = {
  /** Read errors are OpsErrors. Ends with an error when the signal aborts. */
  bytes(signal: AbortSignal): AsyncIterable<Buffer>
  /** In bytes, if it is known. */
  readonly size: number | undefined
  close(): void
}

/** @param path `-` for standard input @param input standard input @throws OpsError when it cannot be read */
async function openImportFile(path: string, input: Readable): Promise<ImportFile> {
  if (path === '-') return fileOf('Standard input', input)
  const name = resolve(path)
  const handle = await openFile(name).catch((error: unknown) => {
    throw cannotBeRead(name, error)
  })
  const { size } = await handle.stat()
  return fileOf(name, handle.createReadStream(), size)
}

const fileOf = (name: string, stream: Readable, size?: number): ImportFile => ({
  async *bytes(signal) {
    try {
      yield* addAbortSignal(signal, stream)
    } catch (error) {
      throw cannotBeRead(name, error)
    }
  },
  size,
  close: () => void stream.destroy(),
})

type ImportRun = Pick<Run, 'isJson' | 'print' | 'progress' | 'signal'> & { readonly file: ImportFile }

const exitRejected = 2

/**
 * Prints every rejected line. The counts are the result, also after an interruption.
 * @throws UnreadableEventError; DomainError `event_store_unavailable` before the first line
 */
export async function importProducts(log: ImportLog, run: ImportRun): Promise<Result> {
  const { file, isJson, print, progress, signal } = run
  // Fails here when the store is down, instead of rejecting the first lines.
  await log.store.head()
  const counts = { added: 0, changed: 0, unchanged: 0, rejected: 0, empty: 0 }
  let lines = 0
  const show = (bytes: number) =>
    progress.show({
      ...{ step: 'Importing', done: lines, unit: 'lines' },
      // The file may grow while it is read, and virtual files have no size.
      part: file.size ? bytes / file.size : undefined,
    })
  let isRead = false
  async function* read() {
    yield* readLines(file.bytes(signal), { maxBytes: maxLineBytes, signal, onSkipped: show })
    isRead = !signal.aborted
  }
  let failure: string | undefined
  show(0)
  try {
    for await (const { line, end, outcome, error } of importLines(log, read(), operatorMetadata())) {
      counts[outcome]++
      lines = line
      show(end)
      if (error) await print(isJson ? JSON.stringify(rejectionJson(line, error)) : `line ${line}: ${reasonOf(error)}`)
    }
  } catch (error) {
    failure = messageOf(error)
  }
  const isWhole = isRead && failure === undefined
  return {
    json: { complete: isWhole, last_line: lines, lines, ...counts },
    text: countsText(lines, counts),
    problem: isWhole ? rejectedText(counts.rejected) : stoppedText(lines, failure ?? 'Interrupted'),
    exitCode: isWhole ? exitRejected : 1,
  }
}

/** With the details that the HTTP API would return. */
export function rejectionJson(line: number, error: DomainError) {
  const { code, details } = error
  return { line, error: { code, message: reasonOf(error), ...(details && { details }) } }
}

/** All errors of the fields, in one line. */
export function reasonOf({ message, details }: DomainError): string {
  const fields = details?.fields
  return Value.Check(Fields, fields) ? fields.map((each) => `${each.field} ${each.message}`).join('; ') : message
}

const Fields = Type.Array(Type.Object({ field: Type.String(), message: Type.String() }))

type Counts = Readonly<Record<ImportedLine['outcome'], number>>

function countsText(lines: number, { added, changed, unchanged, rejected, empty }: Counts): string {
  const parts = [`${added} added`, `${changed} changed`, `${unchanged} unchanged`, `${rejected} rejected`]
  if (empty > 0) parts.push(`${empty} empty`)
  return `${counted(lines, 'line')}: ${parts.join(', ')}.`
}

function rejectedText(rejected: number): string | undefined {
  if (rejected === 0) return undefined
  return `${counted(rejected, 'line was', 'lines were')} rejected. Correct the file and import it again.`
}

function stoppedText(line: number, reason: string): string {
  const known = line === 0 ? 'It is not known whether any line was imported' : `Every line up to ${line} is done`
  return `${reason}. ${known}. Import the file again: nothing is added twice.`
}
