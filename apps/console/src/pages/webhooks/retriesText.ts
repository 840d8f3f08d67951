// When a failed delivery is tried again, in words.
import { formatDuration } from '../../format/time.ts'

/** @param schedule seconds before each retry */
export function retriesText(schedule: readonly number[]): string {
  const pauses = schedule.map(formatDuration)
  const last = pauses.pop()
  if (last === undefined) return 'A failed delivery is not tried again.'
  const all = pauses.length === 0 ? last : `${pauses.join(', ')} and ${last}`
  return `A failed delivery is tried again after ${all}; then it waits for somebody to redeliver it.`
}
