// GET /admin/webhook-endpoints/{endpoint}/statistics: how the deliveries of an endpoint went over time.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Instant } from '@paylog/domain/fields'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { invalidInput } from '@paylog/runtime/http/validation'
import { listEndpoints } from '@paylog/webhooks/deliveries/operations/endpointList'
import {
  endpointStatistics,
  maxPerInterval,
  statisticsIntervals,
} from '@paylog/webhooks/deliveries/operations/endpointStatistics'
import { type Static, Type } from 'typebox'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'
import { timeOf } from '../times.ts'
import { EndpointParams, unknownEndpoint } from './endpointActions.ts'

const maxIntervals = 100
const intervalMs = { hour: 3_600_000, day: 86_400_000 }

const counted = (what: string) => Type.Integer({ description: `${what}; counted up to ${maxPerInterval}` })

const Statistics = Type.Object(
  {
    from: Instant,
    to: Instant,
    succeeded: counted('Deliveries that arrived'),
    failed: counted('Deliveries that are not retried any more'),
    pending: counted('Deliveries that are not finished'),
  },
  {
    title: 'EndpointStatistics',
    description:
      'The deliveries that were created in an interval, by their present status. A redelivery counts where its delivery was created',
  },
)

const Query = Type.Object({
  from: Type.With(Instant, { description: 'The beginning, itself included, with a UTC offset (encode + as %2B)' }),
  to: Type.With(Instant, { description: `The end, itself excluded; at most ${maxIntervals} intervals later` }),
  interval: Type.Enum([...statisticsIntervals], { default: 'day', description: 'In UTC' }),
})

const schema = {
  ...administratorSchema('webhooks', 'getEndpointStatistics', 'Get statistics of a webhook endpoint', 'not_found'),
  params: EndpointParams,
  querystring: Query,
  response: {
    200: dataResponse(Type.Array(Statistics), {
      description: 'All intervals. The first and the last one begin and end with the requested time',
      examples: [
        [
          {
            from: '2026-01-31T00:00:00.000Z',
            to: '2026-02-01T00:00:00.000Z',
            ...{ succeeded: 998, failed: 2, pending: 0 },
          },
        ],
      ],
    }),
  },
}

export const endpointStatisticsRoute =
  ({ pool, endpoints }: Pick<OperatorDependencies, 'pool' | 'endpoints'>): FastifyPluginAsyncTypebox =>
  async (http) => {
    http.get(
      '/admin/webhook-endpoints/:endpoint/statistics',
      { config: { right: 'read' }, schema },
      async ({ params: { endpoint }, query }) => {
        const range = rangeOf(query)
        const isConfigured = endpoints.some(({ name }) => name === endpoint)
        if (!isConfigured && (await listEndpoints(pool, endpoint)).length === 0) throw unknownEndpoint()
        return { success: true as const, data: await endpointStatistics(pool, { endpoint, ...range }) }
      },
    )
  }

/** @throws DomainError `invalid_request` for an impossible time, an end before the beginning, and too many intervals */
function rangeOf(query: Static<typeof Query>) {
  const { interval } = query
  const from = timeOf('querystring', 'from', query.from)
  const to = timeOf('querystring', 'to', query.to)
  if (to <= from) throw invalidTo('must be after from')
  const [first = 0, last = 0] = [from.getTime(), to.getTime() - 1].map((ms) => Math.floor(ms / intervalMs[interval]))
  if (last - first + 1 > maxIntervals) throw invalidTo(`must be at most ${maxIntervals} intervals after from`)
  return { from, to, interval }
}

const invalidTo = (message: string) => invalidInput('querystring', [{ field: 'to', message }])
