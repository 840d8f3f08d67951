// The configured webhook endpoints: their state, and what an operator does with all deliveries of one.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { auditRequest } from '@paylog/commands/auditTrail'
import { actorName } from '@paylog/domain/actor'
import type { AuditedAction } from '@paylog/domain/auditedActions'
import { DomainError } from '@paylog/domain/errors'
import { Instant, Nullable } from '@paylog/domain/fields'
import { dataResponse, optionalBody } from '@paylog/runtime/http/openApiSchemas'
import { allowEmptyBody, defaultBody } from '@paylog/runtime/http/optionalBody'
import { invalidInput } from '@paylog/runtime/http/validation'
import {
  listEndpoints,
  maxCounted,
  maxRecent,
  recentActivity,
  recentHours,
} from '@paylog/webhooks/deliveries/operations/endpointList'
import {
  enableEndpoint,
  type FoundFailed,
  findFailed,
  redeliverAllFailed,
} from '@paylog/webhooks/deliveries/operations/redelivery'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { redactedUrl } from '@paylog/webhooks/endpoints/endpointUrl'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { jobResponse } from '../jobs/routes.ts'
import { administratorSchema, auditedSchema, type OperatorDependencies } from '../routeSchemas.ts'
import { backfillWork, startOf } from './backfillJob.ts'

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

const WebhookEndpointState = Type.Object(
  {
    endpoint: Type.String({ description: 'Its name: the number of its variables, or legacy-1' }),
    url: Nullable(Type.String({ description: 'Without query and possible keys; null when it is not configured here' })),
    events: Nullable(Type.Array(Type.String(), { description: 'The patterns of the events that it receives' })),
    mode: Nullable(Type.Enum(['raw', 'canonical', 'both', 'legacy'])),
    format: Nullable(Type.String({ description: 'json, or the chat service' })),
    is_configured: Type.Boolean({
      description: 'Whether the worker that started last has it. Otherwise deliveries wait',
    }),
    disabled_at: Nullable(
      Type.With(Instant, { description: 'Since when it is paused, because it responded 410 Gone' }),
    ),
    pending: counted('Deliveries that are not finished; all of them are held while it is paused'),
    failed: counted('Deliveries that are not retried any more'),
    oldest_pending_at: Nullable(Instant),
    recent: Nullable(RecentDeliveries),
  },
  { title: 'WebhookEndpoint' },
)
type WebhookEndpointState = Static<typeof WebhookEndpointState>

const example: WebhookEndpointState = {
  endpoint: '1',
  url: 'https://shop.example.com/webhooks',
  events: ['payment.*'],
  mode: 'canonical',
  format: 'json',
  is_configured: true,
  disabled_at: null,
  pending: 2,
  failed: 0,
  oldest_pending_at: '2026-01-31T12:00:00.000Z',
  recent: { deliveries: 1000, succeeded: 998, p50_ms: 42, p95_ms: 310 },
}

const EnabledEndpoint = Type.Object(
  {
    endpoint: Type.String(),
    disabled_at: Nullable(Type.With(Instant, { description: 'Since when it was paused; null when it was not' })),
    held: Type.Integer({ description: 'How many deliveries have waited, and are sent now' }),
  },
  { title: 'EnabledEndpoint' },
)

const Redelivered = Type.Object(
  {
    deliveries: Type.Integer({ description: 'How many are sent again, or would be' }),
    is_complete: Type.Boolean({ description: 'False when there are more than one request handles: repeat it' }),
  },
  { title: 'RedeliveredDeliveries' },
)

const isDryRun = Type.Optional(Type.Boolean({ default: false, description: 'Only counts' }))

const RedeliverBody = Type.Object(
  {
    since: Type.Optional(Type.With(Instant, { description: 'Only those that failed at this time or later' })),
    dry_run: isDryRun,
  },
  { examples: [{ since: '2026-01-31T12:00:00Z', dry_run: true }] },
)

const BackfillBody = Type.Object(
  {
    from: Type.Optional(
      Type.String({
        pattern: '^[0-9]{1,20}$',
        default: '0',
        description: 'Position of the first event; 0 is the start of the log',
      }),
    ),
    dry_run: isDryRun,
  },
  { examples: [{ from: '0', dry_run: true }] },
)

const EndpointParams = Type.Object({ endpoint: Type.String({ description: 'The name of the endpoint' }) })

/** A longer redelivery is continued by the next request. */
const maxRedeliveryMs = 10_000

export function endpointRoutes(dependencies: OperatorDependencies): FastifyPluginAsyncTypebox {
  const { pool, endpoints, jobs, now } = dependencies
  const audit = (request: FastifyRequest, action: AuditedAction, id: string, details: object = {}) =>
    auditRequest(dependencies, request, { action, target: { kind: 'webhook_endpoint', id }, details: { ...details } })
  return async (http) => {
    http.get('/admin/webhook-endpoints', { schema: listSchema }, async () => {
      const [listed, activity] = await Promise.all([listEndpoints(pool), recentActivity(pool, now())])
      const known = new Set(listed.map(({ endpoint }) => endpoint))
      // The worker has not started with these yet.
      const added = endpoints.filter(({ name }) => !known.has(name)).map(({ name }) => ({ ...unused, endpoint: name }))
      const data = [...listed, ...added].map((state) => ({
        ...state,
        ...configurationOf(endpoints.find(({ name }) => name === state.endpoint)),
        recent: activity.find(({ endpoint }) => endpoint === state.endpoint) ?? null,
      }))
      return { success: true as const, data }
    })

    http.post(
      '/admin/webhook-endpoints/:endpoint/enable',
      { onRequest: allowEmptyBody, schema: enableSchema },
      async (request) => {
        const { actor, log } = request
        const { endpoint } = request.params
        if ((await listEndpoints(pool, endpoint)).length === 0) throw unknownEndpoint()
        await audit(request, 'enable_webhook_endpoint', endpoint)
        const enabled = await enableEndpoint(pool, endpoint, now())
        if (enabled === undefined) throw unknownEndpoint()
        log.info({ node: endpoint, ...enabled, requestedBy: actorName(actor) }, 'webhook endpoint enabled')
        const data = { endpoint, disabled_at: enabled.disabled_at?.toISOString() ?? null, held: enabled.held }
        return { success: true as const, data }
      },
    )

    http.post(
      '/admin/webhook-endpoints/:endpoint/redeliver',
      { onRequest: allowEmptyBody, preValidation: defaultBody, schema: redeliverSchema },
      async (request) => {
        const { body, actor, log } = request
        const { endpoint } = request.params
        const since = body.since === undefined ? undefined : timeOf(body.since)
        const dryRun = body.dry_run === true
        const failed = await findFailed(pool, { endpoint, since })
        if (failed === undefined) throw unknownEndpoint()
        const { count: deliveries } = failed
        if (!dryRun) await audit(request, 'redeliver_failed_webhooks', endpoint, { since: body.since, deliveries })
        const data = await redeliverFailed(dependencies, failed, { endpoint, since, dryRun })
        if (!dryRun) log.info({ node: endpoint, ...data, requestedBy: actorName(actor) }, 'failed webhooks redelivered')
        return { success: true as const, data }
      },
    )

    http.post(
      '/admin/webhook-endpoints/:endpoint/backfill',
      { onRequest: allowEmptyBody, preValidation: defaultBody, schema: backfillSchema },
      async (request, reply) => {
        const { params, body, actor } = request
        const endpoint = endpoints.find(({ name }) => name === params.endpoint)
        if (endpoint === undefined) throw unknownEndpoint()
        const options = { endpoint, from: await startOf(dependencies, body.from), dryRun: body.dry_run === true }
        const wanted = { kind: 'backfill', subject: endpoint.name, requestedBy: actorName(actor) } as const
        if (!options.dryRun) await audit(request, 'backfill_webhooks', endpoint.name, { from: body.from ?? '0' })
        const data = await jobs.start(wanted, backfillWork(dependencies, options))
        reply.code(202)
        return { success: true as const, data }
      },
    )
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

const enableSchema = {
  ...auditedSchema('webhooks', 'enableWebhookEndpoint', 'Enable a paused webhook endpoint', 'not_found'),
  description:
    'For administrators. An endpoint that responded 410 Gone is paused. Enabling it sends the deliveries that have waited within ' +
    'seconds, each with a new retry schedule. An endpoint that is not paused stays as it is.',
  params: EndpointParams,
  response: {
    200: dataResponse(EnabledEndpoint, {
      description: 'The endpoint is enabled',
      examples: [{ endpoint: '1', disabled_at: '2026-01-31T12:00:00.000Z', held: 12 }],
    }),
  },
}

const redeliverSchema = {
  ...auditedSchema('webhooks', 'redeliverFailedWebhooks', 'Send all failed deliveries again', 'not_found'),
  ...optionalBody,
  description:
    'For administrators. Sends the deliveries of an endpoint that failed and are not retried any more again, with the same ids and ' +
    'bodies and a new retry schedule. While the endpoint is paused or not configured, they wait.',
  params: EndpointParams,
  body: RedeliverBody,
  response: {
    200: dataResponse(Redelivered, {
      description: 'They are sent within seconds',
      examples: [{ deliveries: 12, is_complete: true }],
    }),
  },
}

const backfillSchema = {
  ...auditedSchema(
    'webhooks',
    'backfillWebhooks',
    'Create the deliveries that an endpoint never got',
    'not_found',
    'job_running',
  ),
  ...optionalBody,
  description:
    'For administrators. The endpoint must be configured here as for the worker. Reads the log from a position to its present end, applies the present configuration, and creates missing ' +
    'deliveries, with the ids that the worker would have used: nothing is sent twice. Tests are skipped, and so are events older ' +
    'than the deliveries that are kept. The result is `{events, too_old, missing, present, position, dry_run}`. A canceled or ' +
    'interrupted backfill may be repeated.',
  params: EndpointParams,
  body: BackfillBody,
  response: { 202: jobResponse('The job, which has started') },
}

const unused = { is_configured: false, disabled_at: null, pending: 0, failed: 0, oldest_pending_at: null }

/** @param endpoint undefined for one that is not configured here any more */
function configurationOf(endpoint: WebhookEndpoint | undefined) {
  if (endpoint === undefined) return { url: null, events: null, mode: null, format: null }
  const { patterns, mode, format } = endpoint
  return { url: redactedUrl(endpoint), events: [...patterns], mode, format }
}

const unknownEndpoint = () => new DomainError('not_found', 'No webhook endpoint with this name')

/** @throws database errors */
async function redeliverFailed(
  { pool, now }: Pick<OperatorDependencies, 'pool' | 'now'>,
  { count, until }: FoundFailed,
  {
    endpoint,
    since,
    dryRun,
  }: { readonly endpoint: string; readonly since: Date | undefined; readonly dryRun: boolean },
): Promise<Static<typeof Redelivered>> {
  if (dryRun || until === null) return { deliveries: count, is_complete: true }
  const startedAt = performance.now()
  let deliveries = 0
  for await (const batch of redeliverAllFailed(pool, { endpoint, since, until }, now)) {
    deliveries += batch.length
    if (performance.now() - startedAt > maxRedeliveryMs) return { deliveries, is_complete: deliveries >= count }
  }
  return { deliveries, is_complete: true }
}

/** @throws DomainError `invalid_request` for a leap second, which passes the format check but does not parse */
function timeOf(text: string): Date {
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) throw invalidInput('body', [{ field: 'since', message: 'must be a time' }])
  return time
}
