// Shared by `projections rebuild` and `projections verify`: replays the log for one projection after another.
import { UnreadableEventError } from '@paylog/event-store/codec/codec'
import type { Projection } from '@paylog/projections/projection'
import {
  ProjectionBusyError,
  type ReplayOptions,
  type ReplayProgress,
  type ReplayStep,
  replayConnections,
  SchemaVersionError,
} from '@paylog/projections/rebuild/replay'
import { projections } from '@paylog/projections/registry'
import { type CliCommand, messageOf, UsageError } from '../command.ts'
import { type Definition, defineCommand, type Result, type Run } from '../defineCommand.ts'
import { flag } from '../options.ts'
import type { Print } from '../printTo.ts'
import { type Progress, partOfLog } from '../progressLine.ts'
import type { Pool, System } from '../system.ts'

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
  /** The end of the command after all projections. */
  readonly conclude: (failed: readonly FailedProjection[], pool: Pool) => Promise<Result & { readonly json?: object }>
}

const options = { all: flag('every projection, one after the other') }

/** Defines a command that replays the log for one projection after another. @param start makes the work of one run */
export function replayCommand(
  definition: Pick<Definition<[], typeof options>, 'summary' | 'json' | 'about'>,
  start: () => ReplayWork,
): CliCommand {
  return defineCommand({
    ...definition,
    args: ['NAME…'],
    options,
    usage: 'NAME… | --all [--reason TEXT] [--json]',
    audited: 'reason',
    onInterrupt: 'finishes',
    run: (call) => replayEach(call, chosenProjections(call.args, call.options.all), start()),
  })
}

async function replayEach(
  { isJson, open, print, progress, signal, audit }: Run,
  chosen: readonly Projection[],
  { action, replay, conclude }: ReplayWork,
): Promise<Result> {
  const store = await open.store(await open.keys())
  const readModels = openReadModels(open)
  const onProgress = (state: ReplayProgress) => progress.show(shownProgress(state))
  const { all, failed } = await forEachProjection(chosen, signal, async (projection) => {
    await audit({ action, target: { kind: 'projection', id: projection.name } })
    const options = { ...readModels, store, projection, signal, onProgress }
    const { text, json } = await replay(options, isJson ? undefined : print)
    progress.end()
    if (!isJson) await print(text)
    return json
  })
  progress.end()
  const end = await conclude(failed, readModels.pool)
  return { ...end, json: { complete: failed.length === 0, ...end.json, projections: all } }
}

/** The database of the read models, for work that replays the log. */
export const openReadModels = (open: System) => ({
  databaseUrl: open.databaseUrl(),
  pool: open.pool({ max: replayConnections }),
  log: open.log,
})

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

const titles: Readonly<Record<ReplayStep, string>> = {
  filling: 'filling',
  comparing: 'comparing with the live rows',
  indexing: 'creating the indexes',
  'catching up': 'catching up',
  switching: 'switching',
}

function shownProgress({ projection, step, events, position, end }: ReplayProgress): Progress {
  const shown = { step: `${projection}, ${titles[step]}` }
  if (step !== 'filling') return shown
  return { ...shown, done: events, unit: 'events', part: partOfLog(position?.commit ?? 0n, end?.commit ?? 0n) }
}
