// Periods of whole days, as reports have them.
import { dayAfter } from './period.ts'

/** `from` is the first day, `to` the day after the last one, both such as 2026-01-31. */
export type Days = { readonly from: string; readonly to: string }

/** The day at a time in a zone. @param now in ms @param timeZone such as Europe/Berlin */
export const dayIn = (timeZone: string, now: number): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(now)

const isDay = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
export const isMonth = (text: string): boolean => /^\d{4}-(0[1-9]|1[0-2])$/.test(text)

/** @param month such as 2026-01 @param months how many later; negative for earlier */
export function monthAfter(month: string, months: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + months, 1)).toISOString().slice(0, 7)
}

export const daysOfMonth = (month: string): Days => ({ from: `${month}-01`, to: `${monthAfter(month, 1)}-01` })

/** The month that these days are; undefined when they are no whole month. */
export function monthOf({ from, to }: Days): string | undefined {
  const month = from.slice(0, 7)
  return isMonth(month) && daysOfMonth(month).from === from && daysOfMonth(month).to === to ? month : undefined
}

export const lastDayOf = ({ to }: Days): string => dayAfter(to, -1)

/** @returns undefined for what is no period, such as one that ends before it begins */
export function readDays(from: string | undefined, to: string | undefined): Days | undefined {
  if (from === undefined || to === undefined || !isDay(from) || !isDay(to) || to <= from) return undefined
  return { from, to }
}

/** Such as "November 2026", in the reader's language. @param locale of the browser when undefined */
export const monthText = (month: string, locale?: string): string =>
  new Intl.DateTimeFormat(locale, { timeZone: 'UTC', year: 'numeric', month: 'long' }).format(Date.parse(`${month}-01`))

/** Such as "November 2026", or "2026-11-01 to 2026-11-15". */
export function daysText(days: Days, locale?: string): string {
  const month = monthOf(days)
  if (month !== undefined) return monthText(month, locale)
  const last = lastDayOf(days)
  return days.from === last ? last : `${days.from} to ${last}`
}

export type Preset = { readonly value: string; readonly label: string; readonly days: Days }

/** Days that people ask for, up to the present one. @param today such as 2026-01-31 */
export function recentDays(today: string): readonly Preset[] {
  const tomorrow = dayAfter(today, 1)
  return [
    { value: 'today', label: 'Today', days: { from: today, to: tomorrow } },
    { value: 'yesterday', label: 'Yesterday', days: { from: dayAfter(today, -1), to: today } },
    ...[7, 30, 90].map((count) => ({
      value: `${count}-days`,
      label: `Last ${count} days`,
      days: { from: dayAfter(today, 1 - count), to: tomorrow },
    })),
  ]
}

const shownMonths = 13

/** The present month and those of a year before, the newest first. @param today such as 2026-01-31 */
export function recentMonths(today: string, locale?: string): readonly Preset[] {
  return Array.from({ length: shownMonths }, (_, back) => {
    const month = monthAfter(today.slice(0, 7), -back)
    return { value: month, label: monthText(month, locale), days: daysOfMonth(month) }
  })
}
