// When a failed attempt is tried again.

/** Jitter only shortens a pause: endpoints that fail together are not called again together. */
const minJitterShare = 0.8

/**
 * The pause before the attempt that follows `attempt` (from 1); `undefined` when the schedule is used up.
 * @param random from 0 to 1
 * @param retryAfterMs for how long the endpoint asked to be left alone: makes a pause longer, never shorter, and adds none
 */
export function nextPauseMs(
  scheduleMs: readonly number[],
  attempt: number,
  random: number,
  retryAfterMs = 0,
): number | undefined {
  const pauseMs = scheduleMs[attempt - 1]
  if (pauseMs === undefined) return undefined
  return Math.max(Math.round(pauseMs * (minJitterShare + (1 - minJitterShare) * random)), retryAfterMs)
}
