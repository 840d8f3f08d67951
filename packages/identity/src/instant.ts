// Reads the times of the identity backend, whose form its interface leaves open.

const isoInstant = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/i
/** Below this a number can only be seconds: as milliseconds it would be a time in early 1973. */
const smallestMilliseconds = 100_000_000_000

/**
 * Milliseconds since 1970 of an ISO 8601 time with an offset, or of Unix seconds or milliseconds. Nothing for anything
 * else: a time without an offset could be hours off.
 */
export function readInstant(value: unknown): number | undefined {
  if (typeof value === 'number') return value < smallestMilliseconds ? value * 1000 : value
  if (typeof value !== 'string' || !isoInstant.test(value)) return undefined
  const instant = Date.parse(value)
  return Number.isNaN(instant) ? undefined : instant
}
