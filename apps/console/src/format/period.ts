// Periods that filter a list: days, or times, in the zone that the reader chose.
import { formatTime, type Zone } from './time.ts'

/** As the API has them: rows after `from` and before `to`, both in UTC, neither included. */
export type Period = { readonly from?: string | undefined; readonly to?: string | undefined }

/** What somebody enters: days such as 2026-01-31, and times such as 12:00; empty for none. */
export type PeriodFields = {
  readonly fromDay: string
  readonly fromTime: string
  readonly toDay: string
  readonly toTime: string
}

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const midnight = '00:00'

/** The first moment of a period is included, so the API is asked for what is after the millisecond before it. */
const afterMs = 1

function timeOf(day: string, time: string, zone: Zone): number {
  return Date.parse(`${day}T${time}:00${zone === 'utc' ? 'Z' : ''}`)
}

/** When a day begins, in ms. */
export const startOfDay = (day: string, zone: Zone): number => timeOf(day, midnight, zone)

/** Midnight some days later, also where a day has 23 or 25 hours. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)
}

const iso = (ms: number): string | undefined => (Number.isNaN(ms) ? undefined : new Date(ms).toISOString())

/** The last day is included; a last time is not. */
export function periodOf({ fromDay, fromTime, toDay, toTime }: PeriodFields, zone: Zone): Period {
  const from = fromDay === '' ? undefined : iso(timeOf(fromDay, fromTime || midnight, zone) - afterMs)
  const end = toTime === '' && toDay !== '' ? timeOf(dayAfter(toDay, 1), midnight, zone) : timeOf(toDay, toTime, zone)
  return { from, to: toDay === '' ? undefined : iso(end) }
}

/** A period as somebody would enter it. */
export function fieldsOf({ from, to }: Period, zone: Zone): PeriodFields {
  const [fromDay = '', fromTime = ''] = partsOf(from === undefined ? undefined : Date.parse(from) + afterMs, zone)
  const [toDay = '', toTime = ''] = partsOf(to === undefined ? undefined : Date.parse(to), zone)
  return {
    fromDay,
    fromTime: fromTime === midnight ? '' : fromTime,
    toDay: toDay !== '' && toTime === midnight ? dayAfter(toDay, -1) : toDay,
    toTime: toTime === midnight ? '' : toTime,
  }
}

function partsOf(ms: number | undefined, zone: Zone): readonly string[] {
  if (ms === undefined || Number.isNaN(ms)) return []
  const text = formatTime(new Date(ms).toISOString(), zone)
  return [text.slice(0, 10), text.slice(11, 16)]
}

/** Such as "2026-01-01 to 2026-01-31"; empty for no period. */
export function periodText(period: Period, zone: Zone): string {
  const { fromDay, fromTime, toDay, toTime } = fieldsOf(period, zone)
  const [from, to] = [`${fromDay} ${fromTime}`.trim(), `${toDay} ${toTime}`.trim()]
  if (from === to) return from
  if (to === '') return `since ${from}`
  return from === '' ? `until ${to}` : `${from} to ${to}`
}

/** The ends of a period that is open there. */
const open = { from: '1970-01-01T00:00:00.000Z', to: '9999-12-31T00:00:00.000Z' }

/** A period as one parameter: its beginning, included, and its end, excluded, with a slash between; undefined for no period. */
export function intervalOf({ from, to }: Period): string | undefined {
  if (from === undefined && to === undefined) return undefined
  return `${from === undefined ? open.from : iso(Date.parse(from) + afterMs)}/${to ?? open.to}`
}

/** No period for what is no interval. */
export function periodOfInterval(interval: string | undefined): Period {
  const [from = '', to = ''] = interval?.split('/') ?? []
  return {
    from: from === open.from ? undefined : iso(Date.parse(from) - afterMs),
    to: to === open.to ? undefined : iso(Date.parse(to)),
  }
}

export type Preset = { readonly label: string; readonly period: Period }

/** Periods that people ask for. @param now in ms */
export function presetsAt(now: number, zone: Zone): readonly Preset[] {
  const [today = ''] = partsOf(now, zone)
  const days = (fromDay: string, toDay: string) => periodOf({ fromDay, fromTime: '', toDay, toTime: '' }, zone)
  const month = `${today.slice(0, 8)}01`
  const lastOfMonthBefore = dayAfter(month, -1)
  return [
    { label: 'Last hour', period: { from: iso(now - 60 * minuteMs) } },
    { label: 'Today', period: days(today, '') },
    { label: 'Yesterday', period: days(dayAfter(today, -1), dayAfter(today, -1)) },
    { label: 'Last 7 days', period: days(dayAfter(today, -6), '') },
    { label: 'Last 30 days', period: days(dayAfter(today, -29), '') },
    { label: 'This month', period: days(month, '') },
    { label: 'Last month', period: days(`${lastOfMonthBefore.slice(0, 8)}01`, lastOfMonthBefore) },
  ]
}
