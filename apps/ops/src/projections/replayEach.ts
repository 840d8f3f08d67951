// Shared by `projections rebuild` and `projections verify`: replays the log for one projection after another.
import { loadConfig } from '@paylog/config/environment'
import { UnreadableEventError } from '@paylog/event-store/codec/codec'
import type { Projection } from '@paylog/projections/projection'
import type { RebuildPhase } from '@paylog/projections/rebuild/rebuild'
import { ProjectionBusyError, type ReplayOptions, type ReplayProgress } from '@paylog/projections/rebuild/replay'
import { SchemaVersionError } from '@paylog/projections/rebuild/verify'
import { projections } from '@paylog/projections/registry'
import { Type } from 'typebox'
import { auditOn, readAuditReason, reasonOption } from '../audit.ts'
import { type CommandContext, messageOf, type OpsError, readList, UsageError } from '../command.ts'
import type { Pool } from '../database.ts'
import { eventLogVariables, openEventLog } from '../eventLog.ts'
import type { Print } from '../printTo.ts'
import {
  type CliProgress,
  type CliProgressOutput,
  createProgress,
  createProgressBar,
  createReportWriter,
} from '../progress.ts'
import { timeLeft } from '../timeLeft.ts'
import { withInterrupt } from '../withInterrupt.ts'
import { withReadModels } from './readModels.ts'

const Config = Type.Object(eventLogVariables)

type ReplayWork = {
  readonly action: 'rebuild_projection' | 'verify_projection'
  /**
   * Replays one projection. @returns the report as text and as JSON
   * @param writeLine prints before the end; undefined with `--json`
   */
  readonly replay: (
    replay: ReplayOptions,
    writeLine: Print | undefined,
  ) => Promise<{ readonly text: string; readonly json: object }>
  /** The JSON summary of all projections. */
  readonly summary?: (failed: readonly FailedProjection[]) => object
  /** The error of the command after all projections, if any. */
  readonly problem: (failed: readonly FailedProjection[], pool: Pool) => Promise<OpsError | undefined>
}

/** @param args `NAME… | --all [--reason TEXT] [--json]` @throws OpsError, UsageError */
export async function replayEach(
  args: readonly string[],
  { environment, print, errors }: CommandContext,
  { action, replay, summary, problem }: ReplayWork,
): Promise<void> {
  const { values, positionals } = readList(args, {
    all: { type: 'boolean' },
    ...reasonOption,
    json: { type: 'boolean' },
  })
  const chosen = chosenProjections(positionals, values.all === true)
  const reason = readAuditReason(values.reason)
  const config = loadConfig(Config, environment)
  const progress = createReplayProgress(errors)
  const { writeLine, conclude } = createReportWriter(progress, print)
  const { store, close } = await openEventLog(config, errors)
  try {
    await withReadModels(config.DATABASE_URL, errors, async (readModels) => {
      const { all, failed } = await withInterrupt(errors, (signal) =>
        forEachProjection(chosen, signal, async (projection) => {
          const options = { ...readModels, store, projection, signal, onProgress: progress.show }
          await auditOn(store, reason, { action, target: { kind: 'projection', id: projection.name } })
          const { text, json } = await replay(options, values.json ? undefined : writeLine)
          progress.end()
          if (!values.json) await writeLine(text)
          return json
        }),
      )
      progress.end()
      if (values.json)
        await conclude(JSON.stringify({ complete: failed.length === 0, ...summary?.(failed), projections: all }))
      const failure = await problem(failed, readModels.pool)
      if (failure !== undefined) throw failure
    })
  } finally {
    progress.end()
    await close()
  }
}

/**
 * The projections with these names, in this order.
 * @throws UsageError for an unknown name
 */
export function namedProjections(names: readonly string[]): readonly Projection[] {
  return [...new Set(names)].map((name) => {
    const named = projections.find((projection) => projection.name === name)
    if (named !== undefined) return named
    const known = projections.map((projection) => projection.name).join(', ')
    throw new UsageError(`Unknown projection ${name}. Known projections: ${known}.`)
  })
}

/**
 * The projections with these names, or all.
 * @throws UsageError unless exactly one of both is given
 */
export function chosenProjections(names: readonly string[], isAll: boolean): readonly Projection[] {
  if (isAll && names.length > 0) throw new UsageError('Give names of projections or --all, not both')
  if (!isAll && names.length === 0) throw new UsageError('NAME or --all is missing')
  return isAll ? projections : namedProjections(names)
}

export type FailedProjection = {
  readonly projection: string
  readonly outcome: 'failed' | 'interrupted' | 'not begun'
  readonly reason: string
}

export type ProjectionOutcomes<Result> = {
  readonly all: readonly (Result | FailedProjection)[]
  readonly failed: readonly FailedProjection[]
}

/**
 * Runs `work` for one projection after another. A failed projection does not stop the others; an unavailable server and
 * an interruption do.
 * @param work throws ProjectionBusyError and the errors of `rebuild` and `verify`
 */
async function forEachProjection<Result>(
  projections: readonly Projection[],
  signal: AbortSignal,
  work: (projection: Projection) => Promise<Result>,
): Promise<ProjectionOutcomes<Result>> {
  const all: (Result | FailedProjection)[] = []
  const failed: FailedProjection[] = []
  let isOver = false
  const fail = (failure: FailedProjection) => {
    all.push(failure)
    failed.push(failure)
  }
  for (const projection of projections) {
    const { name } = projection
    if (isOver || signal.aborted) {
      fail({ projection: name, outcome: 'not begun', reason: 'it was not started' })
      continue
    }
    try {
      all.push(await work(projection))
    } catch (error) {
      isOver = !isProjectionError(error)
      const isInterrupted = signal.aborted
      fail({
        projection: name,
        outcome: isInterrupted ? 'interrupted' : 'failed',
        reason: isInterrupted ? 'it was interrupted' : messageOf(error),
      })
    }
  }
  return { all, failed }
}

function isProjectionError(error: unknown): boolean {
  return [ProjectionBusyError, SchemaVersionError, UnreadableEventError].some((type) => error instanceof type)
}

type ShownProgress = ReplayProgress & {
  readonly phase: string
  /** Where the step began. */
  readonly first: ReplayProgress
}

/** Steps without progress events show the elapsed time. */
const tickMs = 1_000
const titles: Readonly<Record<Exclude<RebuildPhase, 'filling'>, string>> = {
  comparing: 'comparing with the live rows',
  indexing: 'creating the indexes',
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
