// GET /admin/webhook-endpoints: the configured webhook endpoints and their state; and the figures of one over time.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Instant, Nullable } from '@paylog/domain/fields'
import { wholeList } from '@paylog/runtime/http/listFiles'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import {
  listEndpoints,
  maxCounted,
  maxRecent,
  recentActivity,
  recentHours,
} from '@paylog/webhooks/deliveries/operations/endpointList'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { redactedUrl } from '@paylog/webhooks/endpoints/endpointUrl'
import { type Static, Type } from 'typebox'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'

const counted = (what: string) => Type.Integer({ description: `${what}; counted up to ${maxCounted}` })

const RecentDeliveries = Type.Object(
  {
    deliveries: Type.Integer({ description: `At most the newest ${maxRecent}` }),
    succeeded: Type.Integer(),
    p50_ms: Type.Integer({ description: 'How long half of the last attempts took at most' }),
    p95_ms: Type.Integer(),
  },
  { title: 'RecentDeliveries', description: `Deliveries that ended within ${recentHours} hours; null without any` },
)

const LastFailure = Type.Object(
  { at: Instant, http_status: Nullable(Type.Integer()), error: Type.String({ description: 'Short error code' }) },
  {
    title: 'LastFailure',
    description: 'How the newest delivery failed that is not retried any more, or one that is; null without any',
  },
)

const WebhookEndpointState = Type.Object(
  {
    endpoint: Type.String({ description: 'Its id: the number of its variables, or legacy-1' }),
    name: Nullable(Type.String({ description: 'What people call it: WEBHOOK_n_NAME' })),
    url: Nullable(Type.String({ description: 'Without query and possible keys; null when it is not configured here' })),
    events: Nullable(Type.Array(Type.String(), { description: 'The patterns of the events that it receives' })),
    mode: Nullable(Type.Enum(['raw', 'canonical', 'both', 'legacy'])),
    format: Nullable(Type.String({ description: 'json, or the chat service' })),
    retry_schedule: Nullable(Type.Array(Type.Number(), { description: 'Seconds before each retry, about' })),
    timeout_ms: Nullable(Type.Integer({ description: 'How long it may take to respond' })),
    is_configured: Type.Boolean({
      description: 'Whether the worker that started last has it. Otherwise deliveries wait',
    }),
    disabled_at: Nullable(
      Type.With(Instant, { description: 'Since when it is paused, because it responded 410 Gone' }),
    ),
    pending: counted('Deliveries that are not finished; all of them are held while it is paused'),
    failed: counted('Deliveries that are not retried any more'),
    oldest_pending_at: Nullable(Instant),
    last_success_at: Nullable(
      Type.With(Instant, { description: 'When the newest delivery that arrived was accepted' }),
    ),
    last_failure: Nullable(LastFailure),
    recent: Nullable(RecentDeliveries),
  },
  { title: 'WebhookEndpoint' },
)
type WebhookEndpointState = Static<typeof WebhookEndpointState>

const example: WebhookEndpointState = {
  endpoint: '1',
  name: 'Shop',
  url: 'https://shop.example.com/webhooks',
  events: ['payment.*'],
  mode: 'canonical',
  format: 'json',
  retry_schedule: [5, 10, 20],
  timeout_ms: 10000,
  is_configured: true,
  disabled_at: null,
  pending: 2,
  failed: 0,
  oldest_pending_at: '2026-01-31T12:00:00.000Z',
  last_success_at: '2026-01-31T12:00:05.000Z',
  last_failure: { at: '2026-01-31T11:00:05.000Z', http_status: 503, error: 'unexpected_status' },
  recent: { deliveries: 1000, succeeded: 998, p50_ms: 42, p95_ms: 310 },
}

export const endpointRoutes =
  ({ pool, endpoints, now }: Pick<OperatorDependencies, 'pool' | 'endpoints' | 'now'>): FastifyPluginAsyncTypebox =>
  async (http) => {
    const file = wholeList({ name: 'webhook-endpoints', item: WebhookEndpointState, example }, list)
    const config = { right: 'read', file } as const
    http.get('/admin/webhook-endpoints', { config, schema: listSchema }, async () => ({
      success: true as const,
      data: await list(),
    }))

    async function list(): Promise<WebhookEndpointState[]> {
      const [listed, activity] = await Promise.all([listEndpoints(pool), recentActivity(pool, now())])
      const known = new Set(listed.map(({ endpoint }) => endpoint))
      // The worker has not started with these yet.
      const added = endpoints.filter(({ name }) => !known.has(name)).map(({ name }) => ({ ...unused, endpoint: name }))
      return [...listed, ...added].map((state) => ({
        ...state,
        ...configurationOf(endpoints.find(({ name }) => name === state.endpoint)),
        recent: activity.find(({ endpoint }) => endpoint === state.endpoint) ?? null,
      }))
    }
  }

const listSchema = {
  ...administratorSchema('webhooks', 'listWebhookEndpoints', 'List the webhook endpoints'),
  response: {
    200: dataResponse(Type.Array(WebhookEndpointState), {
      description: 'All endpoints that were ever configured',
      examples: [[example]],
    }),
  },
}

const unused = {
  ...{ is_configured: false, disabled_at: null, pending: 0, failed: 0, oldest_pending_at: null },
  ...{ last_success_at: null, last_failure: null },
}

/** @param endpoint undefined for one that is not configured here any more */
function configurationOf(endpoint: WebhookEndpoint | undefined) {
  if (endpoint === undefined)
    return { name: null, url: null, events: null, mode: null, format: null, retry_schedule: null, timeout_ms: null }
  const { label: name, patterns, mode, format, retryScheduleMs, timeoutMs: timeout_ms } = endpoint
  const retry_schedule = retryScheduleMs.map((ms) => ms / 1_000)
  return { name, url: redactedUrl(endpoint), events: [...patterns], mode, format, retry_schedule, timeout_ms }
}
