// How far an import is, in words.
import { createProgressBar, createProgress, type CliProgress, type CliProgressOutput } from '../progress.ts'
import { timeLeft } from '../timeLeft.ts'

export type ImportProgress = {
  readonly phase: 'importing'
  /** Settled so far. */
  readonly lines: number
  /** Of the file, up to there. */
  readonly bytes: number
  /** Its size, where that is known. */
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
  // A file may grow while it is read.
  const part = of === undefined ? undefined : Math.min(bytes / of, 1)
  const left = timeLeft(part ?? 0, elapsedMs)
  return [
    `Importing: ${part === undefined ? '' : `${bar(part)}${Math.floor(part * 100)} %, `}${lines} lines`,
    ...(elapsedMs > 0 ? [`${Math.round((lines * 1_000) / elapsedMs)}/s`] : []),
    ...(left === undefined ? [] : [left]),
  ].join(', ')
}
