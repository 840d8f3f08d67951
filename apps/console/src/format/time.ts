// Times in the reader's zone and in UTC.

export type Zone = 'local' | 'utc'

/** The name of the zone for the API, such as Europe/Berlin. */
export const timeZoneOf = (zone: Zone): string =>
  zone === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone

const partsOf = (date: Date, zone: Zone): Readonly<Record<string, string>> => {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone === 'utc' ? 'UTC' : undefined,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
  return Object.fromEntries(format.formatToParts(date).map(({ type, value }) => [type, value]))
}

/** A time to the second, such as 2026-01-31 12:00:00. The text as it is when it is no time. */
export function formatTime(iso: string, zone: Zone): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return iso
  const { year, month, day, hour, minute, second } = partsOf(date, zone)
  return `${year}-${month}-${day} ${hour}:${minute}:${second}`
}

/** The zone's name beside a time: UTC, or the offset of the reader's zone at that time, such as UTC+2. */
export function zoneName(iso: string, zone: Zone): string {
  if (zone === 'utc') return 'UTC'
  const minutes = -new Date(iso).getTimezoneOffset()
  if (Number.isNaN(minutes)) return ''
  const hours = Math.floor(Math.abs(minutes) / 60)
  const rest = Math.abs(minutes) % 60
  return `UTC${minutes < 0 ? '-' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}

/** The value of a `datetime-local` field, to the millisecond. */
export function toTimeField(iso: string, zone: Zone): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return ''
  const shifted = zone === 'utc' ? date : new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, -1)
}

/** The time of a `datetime-local` field in UTC, or null when it is incomplete. */
export function fromTimeField(value: string, zone: Zone): string | null {
  const isComplete = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?$/.test(value)
  const time = isComplete ? Date.parse(zone === 'utc' ? `${value}Z` : value) : Number.NaN
  return Number.isNaN(time) ? null : new Date(time).toISOString()
}

/** How long something takes or took, in two units at most: 45 s, 12 min, 3 h 20 min, 2 d 4 h. */
export function formatDuration(seconds: number): string {
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`
  if (seconds < 120) return `${Math.round(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const [large, small, largeUnit, smallUnit] =
    minutes < 24 * 60
      ? [Math.floor(minutes / 60), minutes % 60, 'h', 'min']
      : [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60), 'd', 'h']
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
}
