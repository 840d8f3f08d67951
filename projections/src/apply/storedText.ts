// A value as Postgres takes it, whichever way it gets there.
import type { Value } from '../projection.ts'

/** @param type of its column; JSON is text */
export function storedText(type: string, value: Value): string | number | boolean | null {
  if (value === null) return null
  if (type === 'json' || typeof value === 'object') return JSON.stringify(value)
  // Postgres has no NUL in text. The edges refuse it; should one be recorded all the same, a projector may not stop for it.
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
}
