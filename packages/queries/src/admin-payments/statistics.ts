// Statistics for administrators: payments, refunds and disputes by time, currency and provider.
import { fieldsOf } from '@paylog/domain/fields'
import { PaymentStatus } from '@paylog/domain/payments/payment'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { type Queryable, runQuery } from '../lists/runQuery.ts'

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

type Row = {
  readonly from: string
  readonly to: string
  readonly currency: string
  readonly provider_id: string
  readonly what: 'payments' | 'refunds' | 'disputes'
  readonly status: PaymentStatus
  readonly count: number
  readonly amount_cents: number
  readonly received_cents: number
}

function statisticsSql({ from, to, interval }: StatisticsQuery) {
  const between = sql`created_at >= ${from}::timestamptz and created_at < ${to}::timestamptz`
  const grouped = sql`date_trunc(${sql.lit(interval)}, created_at, 'UTC') as begin, currency, provider_id`
  return sql<Row>`
    select greatest(begin, ${from}::timestamptz) as from,
      least(begin + interval ${sql.lit(`1 ${interval}`)}, ${to}::timestamptz) as to,
      currency, provider_id, what, status, count, amount_cents::bigint, received_cents::bigint
    from (
      select ${grouped}, 'payments' as what, status, count(*), sum(amount_cents) as amount_cents,
        sum(amount_received_cents) as received_cents
      from read_models.payments where ${between} group by begin, currency, provider_id, status
      union all
      select ${grouped}, 'refunds', '', count(*), coalesce(sum(amount_cents), 0), 0
      from read_models.refunds where status = 'succeeded' and ${between} group by begin, currency, provider_id
      union all
      select ${grouped}, 'disputes', '', count(*), coalesce(sum(amount_cents), 0), 0
      from read_models.disputes where ${between} group by begin, currency, provider_id
    ) as grouped
    order by begin, currency, provider_id, what, status`
}

/** In the order of time, currency and provider, without intervals in which nothing happened. */
export async function getStatistics(db: Queryable, query: StatisticsQuery): Promise<readonly Statistics[]> {
  const found = new Map<string, Statistics>()
  for (const row of await runQuery(db, statisticsSql(query), { customPlan: true })) {
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
