// Statistics for administrators: payments, refunds and disputes by time, currency and provider.
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import { sql } from 'kysely'
import { prepareQuery, type Queryable, type QueryParameters } from '../queries/namedQuery.ts'

export type StatisticsInterval = 'hour' | 'day'

export type StatisticsQuery = {
  /** Inclusive. */
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  readonly interval: StatisticsInterval
}

/** How many, and how much in minor units. */
export type NumberAndSum = { readonly count: number; readonly amount_cents: number }

/** Of one interval in UTC, currency and provider. The first and the last interval begin and end with the query. */
export type Statistics = {
  readonly from: string
  readonly to: string
  readonly currency: string
  readonly provider_id: string
  /** By their creation. */
  readonly payments: Readonly<Partial<Record<PaymentStatus, NumberAndSum>>>
  /** Of these payments. */
  readonly received_cents: number
  /** Succeeded ones, by their own creation. */
  readonly refunds: NumberAndSum
  /** By their own creation. */
  readonly disputes: NumberAndSum
}

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

type Values = Pick<StatisticsQuery, 'from' | 'to'>
type Shape = Pick<StatisticsQuery, 'interval'>

const statisticsRows = prepareQuery(
  ({ from, to }: QueryParameters<Values>, { interval }: Shape) => {
    const unit = sql.lit(interval)
    const between = sql`created_at >= ${from}::timestamptz and created_at < ${to}::timestamptz`
    const begin = sql`date_trunc(${unit}, created_at, 'UTC')`
    const grouped = sql`${begin} as begin, currency, provider_id`
    return sql<Row>`
      select greatest(begin, ${from}::timestamptz) as from,
        least(begin + ${sql.raw(`interval '1 ${interval}'`)}, ${to}::timestamptz) as to,
        currency, provider_id, what, status, count, amount_cents::bigint, received_cents::bigint
      from (
        select ${grouped}, 'payments' as what, status, count(*), sum(amount_cents) as amount_cents,
          sum(amount_received_cents) as received_cents
        from read_models.payments where ${between} group by begin, currency, provider_id, status
        union all
        select ${grouped}, 'refunds', '', count(*), sum(amount_cents), 0
        from read_models.refunds where status = 'succeeded' and ${between} group by begin, currency, provider_id
        union all
        select ${grouped}, 'disputes', '', count(*), coalesce(sum(amount_cents), 0), 0
        from read_models.disputes where ${between} group by begin, currency, provider_id
      ) as grouped
      order by begin, currency, provider_id, what, status`
  },
  { customPlan: true },
)

/** In the order of time, currency and provider, without intervals in which nothing happened. */
export async function getStatistics(
  db: Queryable,
  { from, to, interval }: StatisticsQuery,
): Promise<readonly Statistics[]> {
  const found = new Map<string, Statistics>()
  for (const row of await statisticsRows(db, { from, to }, { interval })) {
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
