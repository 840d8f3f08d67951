// Sums of the statistics, for the charts and tables of the overview.
import type { Statistics } from '../../api/apiTypes.ts'
import { type Days, lastDayOf } from '../../format/days.ts'
import { startOfDay } from '../../format/period.ts'
import type { Zone } from '../../format/time.ts'

export type Totals = {
  readonly payments: number
  readonly succeeded: number
  /** Succeeded, failed or canceled; the others may still do either. */
  readonly decided: number
  readonly refunds: number
  readonly disputes: number
}

const none: Totals = {
  payments: 0,
  succeeded: 0,
  decided: 0,
  refunds: 0,
  disputes: 0,
}

export function totalsOf(statistics: readonly Statistics[]): Totals {
  return statistics.reduce((sum, { payments, refunds, disputes }) => {
    const count = (...statuses: (keyof Statistics['payments'])[]) =>
      statuses.reduce((total, status) => total + (payments[status]?.count ?? 0), 0)
    return {
      payments: sum.payments + count('pending', 'processing', 'succeeded', 'failed', 'canceled'),
      succeeded: sum.succeeded + count('succeeded'),
      decided: sum.decided + count('succeeded', 'failed', 'canceled'),
      refunds: sum.refunds + refunds.count,
      disputes: sum.disputes + disputes.count,
    }
  }, none)
}

/** In percent with one decimal; null when nothing is decided. */
export const successRate = ({ succeeded, decided }: Totals): number | null =>
  decided === 0 ? null : Math.round((succeeded / decided) * 1_000) / 10

export type Group = { readonly provider: string; readonly currency: string; readonly totals: Totals }

/** One group for each provider and currency, the one with most payments first. */
export function groupsOf(statistics: readonly Statistics[]): Group[] {
  const byGroup = Map.groupBy(statistics, ({ provider_id, currency }) => `${provider_id} ${currency}`)
  return [...byGroup.values()]
    .flatMap((rows) => {
      const [first] = rows
      return first ? [{ provider: first.provider_id, currency: first.currency, totals: totalsOf(rows) }] : []
    })
    .toSorted((a, b) => b.totals.payments - a.totals.payments)
}

export type Interval = { readonly from: string; readonly totals: Totals }

const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** From `from` to `to`, in ms; intervals of `stepMs` begin at its multiples, in UTC. */
export type Range = { readonly from: number; readonly to: number; readonly stepMs: number }

/**
 * What the chart of these days shows: hours of a single day, and otherwise days, which are those of UTC. It ends with the present
 * interval, so that it changes only when the next one begins.
 * @param zone of the single day @param now in ms
 */
export function rangeOf(days: Days, zone: Zone, now: number): Range {
  const isSingle = lastDayOf(days) === days.from
  const [stepMs, zoneOfDays] = isSingle ? [hourMs, zone] : [dayMs, 'utc' as const]
  const end = Math.ceil(now / stepMs) * stepMs
  return { from: startOfDay(days.from, zoneOfDays), to: Math.min(startOfDay(days.to, zoneOfDays), end), stepMs }
}

/** The totals of every interval, also of those without a payment. */
export function intervalsOf(statistics: readonly Statistics[], { from, to, stepMs }: Range): Interval[] {
  const floor = (time: number) => Math.floor(time / stepMs) * stepMs
  const byStart = Map.groupBy(statistics, (row) => floor(Date.parse(row.from)))
  const intervals: Interval[] = []
  for (let start = floor(from); start < to; start += stepMs) {
    intervals.push({ from: new Date(start).toISOString(), totals: totalsOf(byStart.get(start) ?? []) })
  }
  return intervals
}
