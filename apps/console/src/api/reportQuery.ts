// The money of a period.
import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from './api.ts'
import type { ReportQuery } from './apiTypes.ts'

const refreshMs = 60_000

/** @param query `to` is the day after the last one; both are days of `time_zone` */
export const reportQuery = (query: ReportQuery) =>
  queryOptions({
    queryKey: ['report', query],
    queryFn: ({ signal }) => dataOf(api.getReport({ query, signal })),
    refetchInterval: refreshMs,
  })
