// How far an export or its verification is, in words.
import { createProgressBar, createProgress, type CliProgress, type CliProgressOutput } from '../progress.ts'
import { timeLeft } from '../timeLeft.ts'

export type ExportProgress =
  /** On the way back from the end of the log to where the export ends. */
  | { readonly phase: 'looking'; readonly events: number }
  | {
      readonly phase: 'exporting' | 'comparing'
      /** Written, or compared. */
      readonly events: number
      /** In the log. */
      readonly position: bigint
      /** Where the export ends. */
      readonly head: bigint
    }

const titles = { exporting: 'Exporting', comparing: 'Comparing' } as const

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
  if (progress.phase === 'looking') return [`Looking for the end: ${events} events are later`, ...rate].join(', ')
  const { phase, position, head } = progress
  const part = head > 0n ? Math.min(Number((position * 1_000n) / head) / 1_000, 1) : 1
  const left = timeLeft(part, elapsedMs)
  return [
    `${titles[phase]}: ${bar(part)}${Math.floor(part * 100)} %, ${events} events`,
    ...rate,
    ...(left === undefined ? [] : [left]),
  ].join(', ')
}
