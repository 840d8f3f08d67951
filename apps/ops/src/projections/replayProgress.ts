// How far a rebuild or a verification is, in words.
import type { LogPosition } from '@paylog/domain/logPosition'
import type { RebuildPhase } from '@paylog/projections/rebuild/rebuild'
import { createProgressBar, createProgress, type CliProgress, type CliProgressOutput } from '../progress.ts'
import { timeLeft } from '../timeLeft.ts'

export type ReplayProgress = {
  readonly projection: string
  readonly step: RebuildPhase
  /** Applied so far. */
  readonly events: number
  readonly position: LogPosition | undefined
  readonly end: LogPosition | undefined
}

type ShownProgress = ReplayProgress & {
  readonly phase: string
  /** Where the step began. */
  readonly first: ReplayProgress
}

/** Steps without progress of their own show the time that passes. */
const tickMs = 1_000
const titles: Readonly<Record<Exclude<RebuildPhase, 'filling'>, string>> = {
  comparing: 'comparing with the live rows',
  indexing: 'making the indexes',
  'catching up': 'catching up',
  switching: 'switching',
}

export function createReplayProgress(output: CliProgressOutput, now?: () => number): CliProgress<ReplayProgress> {
  const bar = createProgressBar(output)
  const progress = createProgress<ShownProgress>(
    output,
    (shown, elapsedMs) => replayProgressText(shown, elapsedMs, bar),
    now,
  )
  let last: ShownProgress | undefined
  let ticking: NodeJS.Timeout | undefined
  return {
    show(state) {
      const phase = `${state.projection} ${state.step}`
      last = { ...state, phase, first: last?.phase === phase ? last.first : state }
      progress.show(last)
      ticking ??= setInterval(() => last && progress.show(last), tickMs).unref()
    },
    clear: progress.clear,
    end() {
      clearInterval(ticking)
      ticking = undefined
      last = undefined
      progress.end()
    },
  }
}

function replayProgressText(shown: ShownProgress, elapsedMs: number, bar: (part: number) => string): string {
  const { projection, step, events, position, end, first } = shown
  if (step !== 'filling') return `${projection}, ${titles[step]}: ${Math.round(elapsedMs / 1_000)} s`
  const [begun, reached, whole] = [first.position?.commit ?? 0n, position?.commit ?? 0n, end?.commit ?? 0n]
  const left = timeLeft(fraction(reached - begun, whole - begun), elapsedMs)
  const done = fraction(reached, whole)
  return [
    `${projection}, filling: ${bar(done)}${Math.floor(done * 100)} %, ${events} events`,
    ...(events > first.events && elapsedMs > 0
      ? [`${Math.round(((events - first.events) * 1_000) / elapsedMs)}/s`]
      : []),
    ...(left === undefined ? [] : [left]),
  ].join(', ')
}

const fraction = (done: bigint, whole: bigint) =>
  whole > 0n ? Math.min(Number((done * 1_000n) / whole) / 1_000, 1) : 0
