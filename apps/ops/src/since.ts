// `--since` and its like: a point in time, or how long ago it was.
import { parseDurationMs } from '@paylog/domain/duration'
import { Instant } from '@paylog/domain/fields'
import { Value } from 'typebox/value'
import { UsageError } from './command.ts'

/**
 * @param text `2026-11-01T00:00:00Z`, or a duration such as `90m`, `24h` or `7d`
 * @param now what a duration is counted back from, in ms
 * @param option its name, for messages
 * @returns ms since 1970
 * @throws UsageError
 */
export function readSince(text: string, now: number, option = '--since'): number {
  const ago = agoMs(text)
  const time = ago === undefined ? instantMs(text) : now - ago
  if (Number.isNaN(time))
    throw new UsageError(
      `${option} must be a time with an offset such as 2026-11-01T00:00:00Z, or a duration such as 24h`,
    )
  if (time > now) throw new UsageError(`${option} lies in the future`)
  return time
}

/** Durations of the configuration have a default unit and no days; here it is the other way round. */
function agoMs(text: string): number | undefined {
  const days = /^(\d{1,5})d$/.exec(text)?.[1]
  if (days !== undefined) return parseDurationMs(`${Number(days) * 24}h`)
  return /\d$/.test(text) ? undefined : parseDurationMs(text)
}

const instantMs = (text: string) => (Value.Check(Instant, text) ? Date.parse(text) : Number.NaN)
