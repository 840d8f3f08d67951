// Several projections, one after another: what became of each.
import { UnreadableEventError } from '@paylog/event-store/codec/codec'
import type { Projection } from '@paylog/projections/projection'
import { SchemaVersionError } from '@paylog/projections/rebuild/verify'
import { OpsError } from '../command.ts'
import { messageOf } from '../messageOf.ts'

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
 * Does work for one projection after another. What is the matter with one does not keep the others from it; what is the
 * matter with the servers, and an interruption, does.
 * @param work throws OpsError, and everything that `rebuild` and `verify` throw
 */
export async function forEachProjection<Result>(
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
      fail({ projection: name, outcome: 'not begun', reason: 'it was not begun' })
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
  return error instanceof OpsError || error instanceof SchemaVersionError || error instanceof UnreadableEventError
}
