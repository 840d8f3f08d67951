// Sums of the statistics, for the charts and tables of the overview.
import type { Statistics } from '../../api/apiTypes.ts'

export type Totals = {
  readonly payments: number
  readonly succeeded: number
  /** Succeeded, failed or canceled; the others may still do either. */
  readonly decided: number
  readonly receivedCents: number
  readonly refunds: number
  readonly refundedCents: number
  readonly disputes: number
}

const none: Totals = {
  payments: 0,
  succeeded: 0,
  decided: 0,
  receivedCents: 0,
  refunds: 0,
  refundedCents: 0,
  disputes: 0,
}

export function totalsOf(statistics: readonly Statistics[]): Totals {
  return statistics.reduce((sum, { payments, received_cents, refunds, disputes }) => {
    const count = (...statuses: (keyof Statistics['payments'])[]) =>
      statuses.reduce((total, status) => total + (payments[status]?.count ?? 0), 0)
    return {
      payments: sum.payments + count('pending', 'processing', 'succeeded', 'failed', 'canceled'),
      succeeded: sum.succeeded + count('succeeded'),
      decided: sum.decided + count('succeeded', 'failed', 'canceled'),
      receivedCents: sum.receivedCents + received_cents,
      refunds: sum.refunds + refunds.count,
      refundedCents: sum.refundedCents + refunds.amount_cents,
      disputes: sum.disputes + disputes.count,
    }
  }, none)
}

/** In percent with one decimal; null when nothing is decided. */
export const successRate = ({ succeeded, decided }: Totals): number | null =>
  decided === 0 ? null : Math.round((succeeded / decided) * 1_000) / 10

export type Group = { readonly provider: string; readonly currency: string; readonly totals: Totals }

/** One group for each provider and currency, the one with most payments first. Amounts of different currencies are never added. */
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

/**
 * The totals of every interval, also of those without a payment.
 * @param range `from` and `to` in ms, `stepMs` the length of an interval; intervals begin at its multiples, in UTC
 */
export function intervalsOf(
  statistics: readonly Statistics[],
  { from, to, stepMs }: { readonly from: number; readonly to: number; readonly stepMs: number },
): Interval[] {
  const floor = (time: number) => Math.floor(time / stepMs) * stepMs
  const byStart = Map.groupBy(statistics, (row) => floor(Date.parse(row.from)))
  const intervals: Interval[] = []
  for (let start = floor(from); start < to; start += stepMs) {
    intervals.push({ from: new Date(start).toISOString(), totals: totalsOf(byStart.get(start) ?? []) })
  }
  return intervals
}
