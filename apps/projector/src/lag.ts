// Measures how far the projections are behind the log, and tells those who have no log to look into.
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventStore } from '@paylog/event-store/eventStore'
import { liveCheckpoints } from '@paylog/projections/apply/checkpoints'
import { lagOf, recordLag } from '@paylog/projections/lag'
import type { Projection } from '@paylog/projections/projection'
import type { RunnerState } from '@paylog/projections/runProjection'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'

const shortestPauseMs = 2_000
/** What was told longer ago is soon taken for nothing: a database that was silent for long must not make a long pause. */
const longestPauseMs = 10_000
/** Who is further behind than this is far behind, and has better things to do than counting. */
const limits = { maxEvents: 1_000, timeoutMs: 200 }
/** Counting takes the time of those who apply events: so much of all time at most. */
const shareOfTime = 0.1

export type MeasuredRunner = { readonly projection: Projection; readonly state: RunnerState }

/** Until the signal aborts, for the projections that this process runs, or that stopped here. */
export async function watchLags(options: {
  readonly runners: readonly MeasuredRunner[]
  readonly pool: Pool
  readonly store: Pick<EventStore, 'lag'>
  readonly now: () => Date
  readonly signal: AbortSignal
  readonly log: Logger
}): Promise<void> {
  const { runners, signal, log } = options
  while (!signal.aborted) {
    const ours = runners.filter(({ state }) => state.role === 'running' || state.role === 'stopped')
    const begun = performance.now()
    try {
      await measure(options, ours)
    } catch (error) {
      // The projections themselves say it more loudly, and whoever reads the figures sees that they are old.
      if (!signal.aborted) log.debug({ err: error }, 'the lag of the projections could not be measured')
    }
    await sleep(pauseAfter(performance.now() - begun), undefined, { signal }).catch(() => undefined)
  }
}

/** How long not to measure, in ms, after a measurement that took so many. */
export function pauseAfter(tookMs: number): number {
  return Math.min(Math.max(tookMs / shareOfTime, shortestPauseMs), longestPauseMs)
}

/** One after the other: together they would take all the time that there is. */
async function measure(
  { pool, store, now }: Pick<Parameters<typeof watchLags>[0], 'pool' | 'store' | 'now'>,
  runners: readonly MeasuredRunner[],
): Promise<void> {
  if (runners.length === 0) return
  const checkpoints = await liveCheckpoints(pool)
  for (const { projection } of runners) {
    const position = checkpoints.get(projection.name)?.position
    const counted = await store.lag(position, projection.streamPrefixes, limits)
    await recordLag(pool, projection.name, lagOf(counted, now().getTime()))
  }
}
