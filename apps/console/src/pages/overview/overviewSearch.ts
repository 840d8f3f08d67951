import { type Days, dayIn, daysOfMonth, isMonth, recentDays } from '../../format/days.ts'
import { textsOf } from '../../search.ts'

/** The period of the overview, by a name of `recentDays` or a month such as 2026-01, and the filters of its chart. */
export const overviewSearch = (search: Record<string, unknown>) =>
  textsOf(search, ['period', 'currency', 'provider_id'])
export type OverviewSearch = ReturnType<typeof overviewSearch>

export const defaultPeriod = '30-days'

/** The default for an unknown period. @param now in ms @param timeZone of the days */
export function overviewDays(period: string | undefined, timeZone: string, now: number): Days {
  if (period !== undefined && isMonth(period)) return daysOfMonth(period)
  const recent = recentDays(dayIn(timeZone, now))
  const named = (name: string | undefined) => recent.find(({ value }) => value === name)?.days
  const days = named(period) ?? named(defaultPeriod)
  if (days === undefined) throw new Error('There is no default period')
  return days
}
