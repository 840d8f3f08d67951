// GET /admin/stats: payments, refunds and disputes by time, currency and provider, for administrators.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Instant } from '@paylog/domain/fields'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { type Static, Type } from 'typebox'
import { invalidQuery, timeBound } from '../lists/filters.ts'
import { staleHeader } from '../readAfter.ts'
import { administratorSchema, type QueryDependencies } from '../routeSchemas.ts'
import { getStatistics, Statistics, type StatisticsQuery } from './statistics.ts'

const maxIntervals = 400

const StatisticsParameters = Type.Object({
  from: Type.With(Instant, { description: 'The beginning, itself included, with a UTC offset (encode + as %2B)' }),
  to: Type.With(Instant, { description: `The end, itself excluded; at most ${maxIntervals} intervals later` }),
  interval: Type.Enum(['hour', 'day'], { default: 'day', description: 'In UTC' }),
})

const example = {
  from: '2026-01-31T00:00:00.000Z',
  to: '2026-02-01T00:00:00.000Z',
  currency: 'EUR',
  provider_id: 'stripe',
  payments: { succeeded: { count: 2, amount_cents: 5198 }, failed: { count: 1, amount_cents: 2599 } },
  received_cents: 5198,
  refunds: { count: 1, amount_cents: 500 },
  disputes: { count: 0, amount_cents: 0 },
}

export function statisticsRoutes({ db, readAfter }: QueryDependencies): FastifyPluginAsyncTypebox {
  return async (http) => {
    http.get(
      '/admin/stats',
      {
        config: { right: 'read' },
        preHandler: readAfter('payments', 'refunds', 'disputes'),
        schema: {
          ...administratorSchema('payments', 'getStatistics', 'Get statistics of payments, refunds and disputes'),
          querystring: StatisticsParameters,
          response: {
            200: dataResponse(Type.Array(Statistics), {
              description:
                'One entry for each interval, currency and provider with at least one payment, refund or dispute, in this ' +
                'order. The first and the last interval begin and end with the requested time',
              headers: staleHeader,
              examples: [[example]],
            }),
          },
        },
      },
      async ({ query }) => ({ success: true as const, data: [...(await getStatistics(db, toStatisticsQuery(query)))] }),
    )
  }
}

const intervalMs: Readonly<Record<StatisticsQuery['interval'], number>> = { hour: 3_600_000, day: 86_400_000 }

/** @throws DomainError `invalid_request` for an impossible time, an end before the beginning, and too many intervals */
function toStatisticsQuery(query: Static<typeof StatisticsParameters>): StatisticsQuery {
  const { interval } = query
  const from = timeBound('from', query.from, Math.ceil)
  const to = timeBound('to', query.to, Math.ceil)
  if (to <= from) throw invalidQuery('to', 'must be after from')
  const [first, last] = [from, new Date(to.getTime() - 1)].map((time) =>
    Math.floor(time.getTime() / intervalMs[interval]),
  )
  if (Number(last) - Number(first) + 1 > maxIntervals)
    throw invalidQuery('to', `must be at most ${maxIntervals} intervals after from`)
  return { from, to, interval }
}
