// Time zones: times with the offset of a zone, and where its days begin.
import { Type } from 'typebox'
import { invalidInput } from './http/validation.ts'

/** The query parameter. */
export const timeZoneParameter = Type.String({
  minLength: 1,
  maxLength: 64,
  default: 'UTC',
  examples: ['Europe/Berlin'],
  description: 'The IANA name of a time zone',
})

export type TimeZone = {
  readonly name: string
  /** A time with the offset of the zone (RFC 3339), or with Z in UTC. @param time ISO 8601, with milliseconds at most */
  format(time: string): string
  /** When a day begins, in ms since 1970: its first instant, where a change of the clocks skips midnight. @param day such as 2026-03-01 */
  startOfDay(day: string): number
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const zones = new Map<string, TimeZone>()
/** More than there are names. */
const maxZones = 1_000

/** @param name of a zone, in any case @throws DomainError `invalid_request` that names `time_zone` */
export function timeZone(name: string): TimeZone {
  const known = zones.get(name)
  if (known !== undefined) return known
  const zone = createTimeZone(name)
  if (zones.size < maxZones) zones.set(name, zone)
  return zone
}

function createTimeZone(name: string): TimeZone {
  const readOffset = offsetReader(name)
  const offsetsOfHours = new Map<number, number | undefined>()
  const maxHours = 10_000

  /** Asking for an offset takes longer than everything else of a time; an hour mostly has one. */
  function offsetAt(ms: number): number {
    const hour = Math.floor(ms / hourMs)
    if (!offsetsOfHours.has(hour)) {
      if (offsetsOfHours.size >= maxHours) offsetsOfHours.clear()
      const first = readOffset(hour * hourMs)
      offsetsOfHours.set(hour, first === readOffset((hour + 1) * hourMs - 1) ? first : undefined)
    }
    return offsetsOfHours.get(hour) ?? readOffset(ms)
  }
  const localText = (ms: number) => new Date(ms + offsetAt(ms)).toISOString().slice(0, -1)

  return {
    name,
    format(time) {
      const ms = Date.parse(time)
      return localText(ms) + (name === 'UTC' ? 'Z' : offsetText(offsetAt(ms)))
    },
    startOfDay(day) {
      const midnight = Date.parse(`${day}T00:00:00Z`)
      const candidates = [midnight + dayMs, midnight - dayMs].map((nearby) => midnight - offsetAt(nearby))
      const start = candidates.toSorted((a, b) => a - b).find((ms) => localText(ms) >= day)
      return start ?? midnight - offsetAt(midnight)
    },
  }
}

/** @returns the offset of a zone at a time, both in ms */
function offsetReader(name: string): (ms: number) => number {
  const format = offsetFormat(name)
  return (ms) => {
    const text = format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign, hours = 0, minutes = 0] = /^GMT(?:([+-])(\d\d):(\d\d))?/.exec(text) ?? []
    return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
  }
}

function offsetFormat(name: string): Intl.DateTimeFormat {
  // An offset such as +02:00 has no changes of the clocks, so it is no zone.
  const isName = /^[A-Za-z][\w+/-]*$/.test(name)
  try {
    if (isName) return new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  throw invalidInput('querystring', [{ field: 'time_zone', message: 'must be a time zone such as Europe/Berlin' }])
}

function offsetText(offsetMs: number): string {
  const minutes = Math.abs(offsetMs) / 60_000
  const two = (value: number) => String(value).padStart(2, '0')
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}
