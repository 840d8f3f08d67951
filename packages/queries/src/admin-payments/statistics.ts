// Statistics for administrators: payments, refunds and disputes by time, currency and provider.
import { fieldsOf } from '@paylog/domain/fields'
import { PaymentStatus } from '@paylog/domain/payments/payment'
import { defineQuery, type Given, type Queryable } from '@paylog/runtime/postgres/runQuery'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { readModels } from '../readModels.ts'

export type StatisticsQuery = {
  /** Inclusive. */
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  readonly interval: 'hour' | 'day'
}

const NumberAndSum = Type.Object({ count: Type.Integer(), amount_cents: Type.Integer() }, { title: 'NumberAndSum' })

/** Of one interval in UTC, currency and provider. The first and the last interval begin and end with the query. */
export const Statistics = Type.Object(
  {
    from: Type.String({ format: 'date-time' }),
    to: Type.String({ format: 'date-time' }),
    currency: Type.String(),
    provider_id: Type.String(),
    payments: Type.Object(
      fieldsOf(PaymentStatus.enum, () => Type.Optional(NumberAndSum)),
      {
        description: 'Payments created in the interval, by their present status; statuses without one are absent',
      },
    ),
    received_cents: Type.Integer({ description: 'Received for these payments' }),
    refunds: Type.With(NumberAndSum, { description: 'Succeeded refunds that were made in the interval' }),
    disputes: Type.With(NumberAndSum, { description: 'Disputes that were opened in the interval' }),
  },
  { title: 'Statistics' },
)
export type Statistics = Static<typeof Statistics>

const statistics = defineQuery(
  (given: Given<{ readonly from: Date; readonly to: Date }>, interval: StatisticsQuery['interval']) => {
    const from = sql<string>`${given.from}::timestamptz`
    const to = sql<string>`${given.to}::timestamptz`
    /** The sums of a view by interval, currency and provider. */
    const sumsOf = (what: 'payments' | 'refunds' | 'disputes') =>
      readModels
        .selectFrom(`read_models.${what}`)
        .select(sql<string>`date_trunc(${sql.lit(interval)}, created_at, 'UTC')`.as('begin'))
        .select(({ fn }) => [
          'currency',
          'provider_id',
          sql.lit(what).as('what'),
          fn.countAll<number>().as('count'),
          sql<number>`coalesce(sum(amount_cents), 0)::bigint`.as('amount_cents'),
        ])
        .where('created_at', '>=', from)
        .where('created_at', '<', to)
        .groupBy(['begin', 'currency', 'provider_id'])
    const none = [sql<PaymentStatus>`''`.as('status'), sql<number>`0::bigint`.as('received_cents')] as const
    const received = sql<number>`sum(amount_received_cents)::bigint`.as('received_cents')
    const payments = sumsOf('payments').select(['status', received]).groupBy('status')
    const refunds = sumsOf('refunds').select(none).where('status', '=', sql.lit('succeeded'))
    return readModels
      .selectFrom(payments.unionAll(refunds).unionAll(sumsOf('disputes').select(none)).as('grouped'))
      .selectAll()
      .select([
        sql<string>`greatest("begin", ${from})`.as('from'),
        sql<string>`least("begin" + ${sql.lit(`1 ${interval}`)}::interval, ${to})`.as('to'),
      ])
      .orderBy('begin')
      .orderBy('currency')
      .orderBy('provider_id')
      .orderBy('what')
      .orderBy('status')
  },
  { customPlan: true },
)
type Row = Awaited<ReturnType<typeof statistics>>[number]

/** In the order of time, currency and provider, without intervals in which nothing happened. */
export async function getStatistics(
  db: Queryable,
  { from, to, interval }: StatisticsQuery,
): Promise<readonly Statistics[]> {
  const found = new Map<string, Statistics>()
  for (const row of await statistics(db, { from, to }, interval)) {
    const key = JSON.stringify([row.from, row.currency, row.provider_id])
    found.set(key, withRow(found.get(key) ?? emptyStatistics(row), row))
  }
  return [...found.values()]
}

function emptyStatistics({ from, to, currency, provider_id }: Row): Statistics {
  const none = { count: 0, amount_cents: 0 }
  return { from, to, currency, provider_id, payments: {}, received_cents: 0, refunds: none, disputes: none }
}

function withRow(statistics: Statistics, { what, status, count, amount_cents, received_cents }: Row): Statistics {
  const counted = { count, amount_cents }
  if (what !== 'payments') return { ...statistics, [what]: counted }
  return {
    ...statistics,
    payments: { ...statistics.payments, [status]: counted },
    received_cents: statistics.received_cents + received_cents,
  }
}
