import { type Days, dayIn, daysOfMonth, readDays } from '../../format/days.ts'
import { textsOf } from '../../search.ts'

/** The report in the URL, named as the parameters of GET /admin/reports: `to` is the day after the last one. */
export const reportsSearch = (search: Record<string, unknown>) =>
  textsOf(search, ['from', 'to', 'time_zone', 'provider_id', 'currency'])
export type ReportsSearch = ReturnType<typeof reportsSearch>

/** The present month where the URL has no period. @param timeZone of its days @param now in ms */
export const reportDays = ({ from, to }: ReportsSearch, timeZone: string, now: number): Days =>
  readDays(from, to) ?? daysOfMonth(dayIn(timeZone, now).slice(0, 7))
