// The report of a period: what was received, refunded and disputed, by provider and currency.
import { fieldsOf } from '@paylog/domain/fields'
import { defineQuery, type Given, type Queryable } from '@paylog/runtime/postgres/runQuery'
import { type Expression, type SqlBool, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { readModels } from '../readModels.ts'
import { disputeMovements, mayHaveMoved } from './reportedIn.ts'

export type ReportPeriod = {
  /** Inclusive. */
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
}

/** Which rows of a report. */
export type ReportedRows = { readonly provider_id?: string; readonly currency?: string }

const money = [
  ...(['opening_cents', 'gross_cents', 'refunds_cents', 'disputes_cents', 'fees_cents', 'adjustments_cents'] as const),
  ...(['converted_cents', 'payouts_cents', 'closing_cents'] as const),
] as const
type Money = (typeof money)[number]

/** Sums may be larger than a number holds exactly. Not `Nullable`: only of this form a bigint is serialized. */
const Cents = (description: string) => Type.Unsafe<bigint | null>({ type: 'integer', nullable: true, description })

const Sides = Type.Object(
  {
    ours: Cents('By our log; null where it does not know'),
    provider: Cents('By the books of the provider; null where they are not known'),
    difference: Cents('What the provider has more; null unless both are known'),
  },
  { title: 'ReportedAmount' },
)
type Sides = Static<typeof Sides>

export const ReportRow = Type.Object(
  {
    provider_id: Type.String(),
    currency: Type.String(),
    payments: Type.Integer({ description: 'Payments that succeeded in the period' }),
    ...fieldsOf(money, () => Sides),
  },
  { title: 'ReportRow' },
)
export type ReportRow = Static<typeof ReportRow>

const unknown: Sides = { ours: null, provider: null, difference: null }
const ours = (cents: bigint): Sides => ({ ...unknown, ours: cents })

/** What our log knows. Of the others there is nothing in it: fees, payouts and conversions are the provider's. */
type OwnMoney = Extract<Money, 'gross_cents' | 'refunds_cents' | 'disputes_cents'>

const none = sql.lit(0).as('payments')

const sums = defineQuery(
  (given: Given<ReportPeriod>) => {
    const from = sql<string>`${given.from}::timestamptz`
    const to = sql<string>`${given.to}::timestamptz`
    const sumOf = (cents: ReturnType<typeof sql<number | null>>) => sql<string>`coalesce(sum(${cents}), 0)::text`
    /** What left, and what came back. */
    const refundsAt = (time: 'succeeded_at' | 'returned_at') =>
      readModels
        .selectFrom('read_models.refunds')
        .select(['provider_id', 'currency', sql.lit<OwnMoney>('refunds_cents').as('what'), none])
        .select(sumOf(time === 'succeeded_at' ? sql`-amount_cents` : sql`amount_cents`).as('cents'))
        .where(time, '>=', from)
        .where(time, '<', to)
        .groupBy(['provider_id', 'currency'])
    const payments = readModels
      .selectFrom('read_models.payments')
      .where('completed_at', '>=', from)
      .where('completed_at', '<', to)
      .groupBy(['provider_id', 'currency'])
      .select(['provider_id', 'currency', sql.lit<OwnMoney>('gross_cents').as('what')])
    return payments
      .where('succeeded_cents', 'is not', null)
      .select(({ fn }) => [fn.countAll<number>().as('payments'), sumOf(sql`succeeded_cents`).as('cents')])
      .unionAll(
        // What else was received, for a payment that succeeded or was canceled.
        payments
          .where(sql<SqlBool>`charge_reports ? 'others'`)
          .select([none, sumOf(sql`amount_received_cents - coalesce(succeeded_cents, 0)`).as('cents')]),
      )
      .unionAll(refundsAt('succeeded_at'))
      .unionAll(refundsAt('returned_at'))
      .unionAll(
        disputesIn(from, to).select(sumOf(sql`case when is_taken then -amount_cents else amount_cents end`).as('cents')),
      )
  },
  { customPlan: true },
)

/** When the money of disputes was taken, and when it was given back. */
const disputesIn = (from: Expression<string>, to: Expression<string>) =>
  readModels
    .selectFrom('read_models.disputes as item')
    .innerJoinLateral(disputeMovements.as('moved'), (join) => join.onTrue())
    .where(mayHaveMoved({ from, to }))
    .where('moved.at', '>=', from)
    .where('moved.at', '<', to)
    .groupBy(['provider_id', 'currency'])
    .select(['provider_id', 'currency', sql.lit<OwnMoney>('disputes_cents').as('what'), none])

/** In the order of provider and currency, without those of which nothing is known in the period. */
export async function getReport(
  db: Queryable,
  { from, to, ...only }: ReportPeriod & ReportedRows,
): Promise<ReportRow[]> {
  const rows = new Map<string, ReportRow>()
  for (const { provider_id, currency, what, payments, cents } of await sums(db, { from, to })) {
    if (only.provider_id !== undefined && provider_id !== only.provider_id) continue
    if (only.currency !== undefined && currency !== only.currency.toUpperCase()) continue
    const key = `${provider_id} ${currency}`
    const row = rows.get(key) ?? {
      provider_id,
      currency,
      payments: 0,
      ...fieldsOf(money, () => unknown),
      ...ownNothing,
    }
    const sum = (row[what].ours ?? 0n) + BigInt(cents)
    rows.set(key, { ...row, payments: row.payments + payments, [what]: ours(sum) })
  }
  return [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

const ownNothing: Readonly<Record<OwnMoney, Sides>> = {
  gross_cents: ours(0n),
  refunds_cents: ours(0n),
  disputes_cents: ours(0n),
}
