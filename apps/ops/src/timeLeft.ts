/**
 * A rough estimate of the remaining time.
 * @param part the fraction of the work that is done, from 0 to 1
 * @returns undefined when there is nothing to base it on
 */
export function timeLeft(part: number, elapsedMs: number): string | undefined {
  if (part <= 0 || part >= 1 || elapsedMs <= 0) return undefined
  const seconds = Math.ceil((elapsedMs * (1 - part)) / part / 1_000)
  if (seconds < 120) return `${seconds} s left`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} min left` : `${Math.ceil(minutes / 60)} h left`
}
