// What the console computes from the rows of a report.
import type { ReportRow } from '../../api/apiTypes.ts'

/** What our log knows, with the list behind it. */
export const movedMoney = [
  { field: 'gross_cents', label: 'Received', list: '/payments' },
  { field: 'refunds_cents', label: 'Refunded', list: '/refunds' },
  { field: 'disputes_cents', label: 'Disputed', list: '/disputes' },
] as const
export type MovedMoney = (typeof movedMoney)[number]

type Sums = { readonly [Field in MovedMoney['field']]: number }
export type CurrencyTotals = { readonly currency: string; readonly payments: number; readonly sums: Sums }

/** One for each currency, over all providers, the one with most payments first. Currencies are never added. */
export function currencyTotals(rows: readonly ReportRow[]): CurrencyTotals[] {
  const sumOf = (of: readonly ReportRow[], field: MovedMoney['field']) =>
    of.reduce((sum, row) => sum + (row[field].ours ?? 0), 0)
  return [...Map.groupBy(rows, ({ currency }) => currency)]
    .map(([currency, of]) => ({
      currency,
      payments: of.reduce((sum, { payments }) => sum + payments, 0),
      sums: {
        gross_cents: sumOf(of, 'gross_cents'),
        refunds_cents: sumOf(of, 'refunds_cents'),
        disputes_cents: sumOf(of, 'disputes_cents'),
      },
    }))
    .toSorted((a, b) => b.payments - a.payments || (a.currency < b.currency ? -1 : 1))
}

/** What is left of the money that came in, by our log. */
export const netCents = (row: ReportRow): number =>
  movedMoney.reduce((sum, { field }) => sum + (row[field].ours ?? 0), 0)

/** The lines of a statement: the balance before, what moved, and the balance after. */
export const statementLines = [
  { field: 'opening_cents', label: 'Balance before' },
  ...movedMoney,
  { field: 'fees_cents', label: 'Fees' },
  { field: 'adjustments_cents', label: 'Adjustments' },
  { field: 'converted_cents', label: 'Converted into another currency' },
  { field: 'payouts_cents', label: 'Paid out' },
  { field: 'closing_cents', label: 'Balance after' },
] as const
export type StatementLine = (typeof statementLines)[number]

export type Difference = { readonly status: 'unknown' } | { readonly status: 'known'; readonly lines: number }

/** In how many lines the provider's books differ from our log; unknown while no line has both sides. */
export function differenceOf(row: ReportRow): Difference {
  const known = statementLines.map(({ field }) => row[field].difference).filter((cents) => cents !== null)
  return known.length === 0
    ? { status: 'unknown' }
    : { status: 'known', lines: known.filter((cents) => cents !== 0).length }
}
