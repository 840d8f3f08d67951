// Amounts as providers report them. An amount never travels without its currency, and sums never add two currencies.
import { Type } from 'typebox'
import { Nullable } from '../fields.ts'

/** An amount in minor units. The currency, in any case, is null where the report names none: then it is the payment's. */
export type ReportedMoney = { readonly amount_cents: number | null; readonly currency: string | null }

/** An amount in the payment's currency, null if it is not known; and what was reported in another currency. */
export type RecordedAmount = {
  readonly amount_cents: number | null
  readonly reported_amount_cents: number | null
  readonly reported_currency: string | null
}

/** In API responses. */
export const ReportedInOtherCurrency = {
  reported_amount_cents: Nullable(
    Type.Integer({
      description:
        'What the provider reported, if it was in another currency; amount_cents is then what we know, or null',
    }),
  ),
  reported_currency: Nullable(Type.String()),
}

type InCurrency = { readonly currency: string }

export function isInOtherCurrency({ currency }: Pick<ReportedMoney, 'currency'>, payment: InCurrency): boolean {
  return currency !== null && currency.toUpperCase() !== payment.currency
}

/** Whether a report has an amount in the payment's currency of what so far has none there: another report was wrong. */
export const correctsAmount = (
  report: ReportedMoney,
  payment: InCurrency,
  known: Pick<RecordedAmount, 'amount_cents'>,
): boolean => known.amount_cents === null && report.amount_cents !== null && !isInOtherCurrency(report, payment)

export const inPaymentCurrency = (amount_cents: number | null): RecordedAmount => ({
  amount_cents,
  reported_amount_cents: null,
  reported_currency: null,
})

/** @param known what counts when the report has no amount in the payment's currency, as for a refund that we requested */
export function recordedAmount(
  report: ReportedMoney,
  payment: InCurrency,
  known: RecordedAmount = inPaymentCurrency(null),
): RecordedAmount {
  const { amount_cents, currency } = report
  if (isInOtherCurrency(report, payment))
    return {
      amount_cents: known.amount_cents,
      reported_amount_cents: amount_cents,
      reported_currency: currency?.toUpperCase() ?? null,
    }
  const { reported_amount_cents, reported_currency } = known
  return amount_cents === null
    ? { amount_cents: known.amount_cents, reported_amount_cents, reported_currency }
    : inPaymentCurrency(amount_cents)
}
