// When a failed attempt is tried again.

/** Jitter only shortens a pause: endpoints that fail together are not called again together. */
const shortestShare = 0.8

/**
 * The pause before the attempt that follows `attempt` (from 1); `undefined` when the schedule is used up.
 * @param random from 0 to 1
 */
export function nextPauseMs(scheduleMs: readonly number[], attempt: number, random: number): number | undefined {
  const pauseMs = scheduleMs[attempt - 1]
  return pauseMs === undefined ? undefined : Math.round(pauseMs * (shortestShare + (1 - shortestShare) * random))
}
