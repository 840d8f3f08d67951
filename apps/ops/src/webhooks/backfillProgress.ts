// How far a backfill is, in words.
import { createProgressBar, createProgress, type CliProgress, type CliProgressOutput } from '../progress.ts'
import { timeLeft } from '../timeLeft.ts'

export type BackfillProgress = {
  readonly phase: 'backfilling'
  readonly events: number
  readonly missing: number
  /** Positions of the log: where it began, where it is, and where it ends. */
  readonly from: bigint
  readonly position: bigint
  readonly head: bigint
}

export function createBackfillProgress(output: CliProgressOutput, now?: () => number): CliProgress<BackfillProgress> {
  const bar = createProgressBar(output)
  return createProgress<BackfillProgress>(
    output,
    (progress, elapsedMs) => backfillProgressText(progress, elapsedMs, bar),
    now,
  )
}

function backfillProgressText(progress: BackfillProgress, elapsedMs: number, bar: (part: number) => string): string {
  const { events, missing, from, position, head } = progress
  const part = head > from ? Math.min(Number(((position - from) * 1_000n) / (head - from)) / 1_000, 1) : 1
  const left = timeLeft(part, elapsedMs)
  return [
    `Reading: ${bar(part)}${Math.floor(part * 100)} %, ${events} events`,
    ...(elapsedMs > 0 ? [`${Math.round((events * 1_000) / elapsedMs)}/s`] : []),
    `${missing} deliveries missing`,
    ...(left === undefined ? [] : [left]),
  ].join(', ')
}
