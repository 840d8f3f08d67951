// How the deliveries of an endpoint went over time, for operators.
import { defineQuery, type Given, type Queryable } from '@paylog/runtime/postgres/runQuery'
import { type RawBuilder, sql } from 'kysely'

export const statisticsIntervals = ['hour', 'day'] as const

export type EndpointStatisticsQuery = {
  readonly endpoint: string
  /** Inclusive. */
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  readonly interval: (typeof statisticsIntervals)[number]
}

/** The deliveries that were created in an interval, by their present state. */
export type EndpointStatistics = {
  readonly from: string
  readonly to: string
  readonly succeeded: number
  readonly failed: number
  /** Not finished: sent for the first time, or tried again. */
  readonly pending: number
}

/** Counting stops here in each interval, which bounds its cost. */
export const maxPerInterval = 100_000

const lengths = { hour: sql.lit('1 hour'), day: sql.lit('24 hours') }

/** The indexes of an endpoint have all that is compared, so that no row is read. */
const counted = (rows: RawBuilder<unknown>) =>
  sql`(select count(*) from (${rows} limit ${sql.lit(maxPerInterval)}) as counted)`

const statistics = defineQuery(
  (
    { endpoint, from, to, endedSince }: Given<Omit<EndpointStatisticsQuery, 'interval'> & { endedSince: Date }>,
    interval: EndpointStatisticsQuery['interval'],
  ) => {
    const isInInterval = sql`d.node = ${endpoint} and d.created_at >= bounds.from and d.created_at < bounds.to`
    // The first condition leaves out partitions when it is planned, the second when it is run.
    const isEnded = sql`d.ended_at >= ${endedSince}::timestamptz and d.ended_at >= bounds.from - interval '1 hour'`
    const finished = (isError: RawBuilder<unknown>) =>
      counted(
        sql`select from webhooks.finished_deliveries d where ${isInInterval} and ${isEnded} and d.last_error ${isError}`,
      )
    return sql<EndpointStatistics>`
select bounds.from, bounds.to, ${finished(sql`is null`)} as succeeded, ${finished(sql`is not null`)} as failed,
  ${counted(sql`select from webhooks.deliveries d where ${isInInterval}`)} as pending
from (
  select greatest(begin, ${from}::timestamptz) as "from", least(begin + ${lengths[interval]}::interval, ${to}::timestamptz) as "to"
  from generate_series(date_trunc(${sql.lit(interval)}, ${from}::timestamptz, 'UTC'), ${to}::timestamptz - interval '1 millisecond',
    ${lengths[interval]}::interval) as begin
) as bounds
order by bounds.from`
  },
  { customPlan: true },
)

/** By the clock of the database a delivery may have ended before it was created. */
const clockMarginMs = 3_600_000

/** All intervals, in the order of time. The first and the last one begin and end with the query. */
export const endpointStatistics = (
  db: Queryable,
  { interval, ...query }: EndpointStatisticsQuery,
): Promise<EndpointStatistics[]> =>
  statistics(db, { ...query, endedSince: new Date(query.from.getTime() - clockMarginMs) }, interval)
