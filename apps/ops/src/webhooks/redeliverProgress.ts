// How far a redelivery is, in words.
import { createProgressBar, createProgress, type CliProgress, type CliProgressOutput } from '../progress.ts'
import { timeLeft } from '../timeLeft.ts'

export type RedeliverProgress = { readonly phase: 'redelivering'; readonly done: number; readonly of: number }

export function createRedeliverProgress(output: CliProgressOutput, now?: () => number): CliProgress<RedeliverProgress> {
  const bar = createProgressBar(output)
  return createProgress<RedeliverProgress>(
    output,
    (progress, elapsedMs) => redeliverProgressText(progress, elapsedMs, bar),
    now,
  )
}

function redeliverProgressText(
  { done, of }: RedeliverProgress,
  elapsedMs: number,
  bar: (part: number) => string,
): string {
  const part = of === 0 ? 1 : Math.min(done / of, 1)
  const left = timeLeft(part, elapsedMs)
  return [
    `Sending again: ${bar(part)}${done} of ${of}`,
    ...(elapsedMs > 0 ? [`${Math.round((done * 1_000) / elapsedMs)}/s`] : []),
    ...(left === undefined ? [] : [left]),
  ].join(', ')
}
