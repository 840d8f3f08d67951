// Measures how far the projections are behind the log, and records it for processes without access to the log.
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventStore } from '@paylog/event-store/eventStore'
import { liveCheckpoints } from '@paylog/projections/apply/checkpoints'
import { type Lag, lagOf, recordLags } from '@paylog/projections/lag'
import type { Projection } from '@paylog/projections/projection'
import type { RunnerState } from '@paylog/projections/runProjection'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'

const minPauseMs = 5_000
/** Readiness waits for the first measurement. */
const startingPauseMs = 250
/** Readiness waits for the next one when a lag is unknown, such as after an outage of the event store. */
const unknownPauseMs = 1_000
/** Recorded lags expire soon, so a slow database must not lead to a long pause. */
const maxPauseMs = 10_000
/** Counting stops here: a projection that is further behind should not spend its time on counting. */
const limits = { maxEvents: 1_000, timeoutMs: 200 }
/** Counting competes with applying events: the largest share of time it may take. */
const shareOfTime = 0.1

export type MeasuredRunner = { readonly projection: Projection; readonly state: RunnerState }

const measuredRoles: readonly RunnerState['role'][] = ['running', 'frozen', 'stopped']

/** Measures until the signal aborts, for the projections that run or stand still in this process. */
export async function watchLags(options: {
  readonly runners: readonly MeasuredRunner[]
  readonly pool: Pool
  readonly store: Pick<EventStore, 'lag' | 'checkpointBefore'>
  readonly now: () => Date
  readonly signal: AbortSignal
  readonly log: Logger
}): Promise<void> {
  const { runners, signal, log } = options
  while (!signal.aborted) {
    const measured = runners.filter(({ state }) => measuredRoles.includes(state.role))
    const isStarting = runners.some(({ state }) => state.role === 'starting')
    const startedAt = performance.now()
    let pauseMs = unknownPauseMs
    try {
      const isKnown = await measure(options, measured)
      pauseMs = pauseAfter(performance.now() - startedAt, isKnown)
    } catch (error) {
      // Debug only: the projections log database errors themselves, and old figures are recognizable.
      if (!signal.aborted) log.debug({ err: error }, 'could not measure the lag')
    }
    await sleep(isStarting ? startingPauseMs : pauseMs, undefined, { signal }).catch(() => undefined)
  }
}

/** The pause in ms after a measurement of this duration. @param isKnown whether it found all lags */
export function pauseAfter(tookMs: number, isKnown: boolean): number {
  const pauseMs = isKnown ? Math.max(tookMs / shareOfTime, minPauseMs) : Math.max(tookMs, unknownPauseMs)
  return Math.min(pauseMs, maxPauseMs)
}

/** Measures one projection after the other, to leave connections to those that apply events. @returns whether all are known */
async function measure(
  { pool, store, now }: Pick<Parameters<typeof watchLags>[0], 'pool' | 'store' | 'now'>,
  runners: readonly MeasuredRunner[],
): Promise<boolean> {
  if (runners.length === 0) return true
  const [checkpoints, end] = await Promise.all([liveCheckpoints(pool), store.checkpointBefore(undefined)])
  const lags = new Map<string, Lag | undefined>()
  for (const { projection } of runners) {
    const position = checkpoints.get(projection.name)?.position
    const isAtEnd = position !== undefined && position.eventId === end?.eventId
    const lag = isAtEnd ? none : await store.lag(position, projection.streamPrefixes, limits)
    lags.set(projection.name, lagOf(lag, now().getTime()))
  }
  await recordLags(pool, lags)
  return [...lags.values()].every((lag) => lag !== undefined)
}

const none = { events: 0, isMore: false, first: undefined }
