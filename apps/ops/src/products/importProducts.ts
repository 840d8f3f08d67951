// One run of an import: from a file to the log and to the report.
import { randomUUID } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import { OpsError } from '../command.ts'
import type { ReportWriter } from '../progress.ts'
import type { ImportFile } from './importFile.ts'
import { importLines, type ImportLog, type ImportedLine } from './importing.ts'
import type { ImportProgress } from './importProgress.ts'
import { createImportTally, type ImportTally, rejectionJson, rejectionText } from './importReport.ts'
import { createWarningCheck, warningJson, warningText } from './importWarnings.ts'
import { readLines } from './lines.ts'
import { maxLineBytes } from './productLine.ts'

const exitRejected = 2

export type ImportRun = ReportWriter & {
  readonly file: ImportFile
  readonly isJson: boolean
  readonly onProgress: (progress: ImportProgress) => void
  readonly signal: AbortSignal
}

/**
 * Reports every line that is rejected or doubtful, and in the end how many there were of each kind, also when it cannot go on.
 * @throws OpsError when a line is not in; UnreadableEventError; DomainError `event_store_unavailable` before the first line
 */
export async function importProducts(log: ImportLog, run: ImportRun): Promise<void> {
  // A store that is down says so at once, and not as the fate of the first lines.
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
  throw new OpsError(`${lines} rejected. Mend what is wrong and import it again.`, { exitCode: exitRejected })
}

function stoppedText(tally: ImportTally, reason: string): string {
  const line = tally.lastLine()
  const known = line === 0 ? 'No line is known to be in' : `Every line up to ${line} is dealt with`
  return `${reason}. ${known}. Import the file again: nothing is added twice.`
}

/** @returns whether it came to the end of the file, because it was not interrupted */
async function importAll(log: ImportLog, tally: ImportTally, run: ImportRun): Promise<boolean> {
  const { file, isJson, say, onProgress, signal } = run
  const show = (bytes: number) => onProgress({ phase: 'importing', lines: tally.lines(), bytes, of: file.size })
  let isWhole = false
  async function* lines() {
    yield* readLines(file.bytes(signal), { maxBytes: maxLineBytes, signal, onSkipped: show })
    isWhole = !signal.aborted
  }
  const metadata = { correlationId: randomUUID(), causationId: 'products import', actor: 'operator' }
  const watch = createWarningCheck()
  async function report(settled: ImportedLine): Promise<void> {
    const { line } = settled
    const warnings = watch(settled)
    tally.add(settled, warnings)
    show(settled.end)
    if (settled.outcome === 'rejected')
      await say(isJson ? JSON.stringify(rejectionJson(settled)) : rejectionText(settled))
    for (const warning of warnings)
      await say(isJson ? JSON.stringify(warningJson(line, warning)) : warningText(line, warning))
  }
  show(0)
  for await (const settled of importLines(log, lines(), metadata)) await report(settled)
  if (isWhole) show(file.size ?? 0)
  return isWhole
}
