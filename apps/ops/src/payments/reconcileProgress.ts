// How far a reconciliation is, in words.
import { createProgressBar, createProgress, type CliProgress, type CliProgressOutput } from '../progress.ts'

export type ReconcileProgress =
  | {
      readonly phase: 'reading'
      readonly events: number
      /** Chosen so far. */
      readonly payments: number
      readonly position: bigint
      /** Of the log, and above 0. */
      readonly head: bigint
    }
  | { readonly phase: 'asking'; readonly answered: number; readonly of: number }

export function createReconcileProgress(output: CliProgressOutput, now?: () => number): CliProgress<ReconcileProgress> {
  const bar = createProgressBar(output)
  return createProgress<ReconcileProgress>(
    output,
    (progress, elapsedMs) => reconcileProgressText(progress, elapsedMs, bar),
    now,
  )
}

function reconcileProgressText(progress: ReconcileProgress, elapsedMs: number, bar: (part: number) => string): string {
  const perSecond = (done: number) => (elapsedMs > 0 ? `, ${Math.round((done * 1_000) / elapsedMs)}/s` : '')
  if (progress.phase === 'asking') {
    const { answered, of } = progress
    return `Asking: ${bar(answered / of)}${answered} of ${of} payments${perSecond(answered)}`
  }
  const { events, payments, position, head } = progress
  const part = Number((position * 1_000n) / head) / 1_000
  return `Reading: ${bar(part)}${events} events${perSecond(events)}, ${payments} payments to ask about`
}
