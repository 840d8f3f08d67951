// The rows that a figure of a report counts: the lists behind the figures have a filter by the same times as the report.
import type { Parameter } from '@paylog/runtime/postgres/runQuery'
import { type Expression, type SqlBool, sql } from 'kysely'
import { Type } from 'typebox'
import { type Filter, filter, invalidQuery } from '../lists/filters.ts'
import type { Item, View } from '../readModels.ts'

const instant = '[^/]{1,30}T[^/]{1,30}(Z|[+-]\\d{2}:\\d{2})'
const Interval = Type.String({
  pattern: `^${instant}/${instant}$`,
  examples: ['2026-01-01T00:00:00Z/2026-02-01T00:00:00Z'],
})

/** Whether a time of the row is in the period. */
type IsWithin = (time: Expression<unknown>) => Expression<SqlBool>

/**
 * A filter for what the report of a period counts.
 * @param what is listed, such as payments
 * @param isReported whether a row is counted
 */
export const reportedIn = <Of extends View>(
  what: string,
  isReported: (item: Item<Of>, isWithin: IsWithin, period: Period) => Expression<SqlBool>,
): Filter<Of> =>
  filter(
    Interval,
    `Only ${what} that the report of this period counts: its beginning, included, and its end, excluded, with a slash between`,
    (item: Item<Of>, interval) => {
      const period = { from: boundOf(interval, 0), to: boundOf(interval, 1) }
      return isReported(item, (time) => sql`(${time} >= ${period.from} and ${time} < ${period.to})`, period)
    },
  )

type Period = { readonly from: Expression<string>; readonly to: Expression<string> }

/** @throws DomainError `invalid_request` for an impossible time */
const boundOf = (interval: Parameter<string>, at: 0 | 1) =>
  sql<string>`${interval.as((text) => {
    const ms = Date.parse(text.split('/')[at] ?? '')
    if (Number.isNaN(ms)) throw invalidQuery('reported_in', 'must be two times with a slash between')
    return new Date(ms)
  })}::timestamptz`

/** Clocks of processes differ, so that the times of a dispute may be out of order. */
const clockMargin = sql`interval '1 minute'`

/** Whether anything can have happened to a dispute in the period. Of a row that is named `item`. */
export const mayHaveMoved = ({ from, to }: Period) =>
  sql<SqlBool>`(item.updated_at >= ${from} - ${clockMargin} and item.created_at < ${to} + ${clockMargin})`

/**
 * When the money of a dispute was taken, and when it was given back: where a report says the opposite of the one before. Of a row
 * that is named `item`.
 */
export const disputeMovements = sql<{ readonly at: string; readonly is_taken: boolean }>`(
  select at, is_taken
  from (
    select (value->>'at')::timestamptz as at, (value->>'is_taken')::boolean as is_taken,
      lag((value->>'is_taken')::boolean, 1, false) over (order by key::bigint) as was_taken
    from jsonb_each(item.money)
  ) as reports
  where is_taken <> was_taken
)`
