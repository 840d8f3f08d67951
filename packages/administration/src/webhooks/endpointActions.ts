// POST /admin/webhook-endpoints/{endpoint}/enable, /redeliver and /backfill: what an operator does with all deliveries of an endpoint.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { actorName } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import { Instant, Nullable } from '@paylog/domain/fields'
import { audited, type RequestOf } from '@paylog/runtime/http/guardRoutes'
import { dataResponse, optionalBody } from '@paylog/runtime/http/openApiSchemas'
import { allowEmptyBody, defaultBody } from '@paylog/runtime/http/optionalBody'
import { listEndpoints } from '@paylog/webhooks/deliveries/operations/endpointList'
import {
  enableEndpoint,
  type FoundFailed,
  findFailed,
  redeliverAllFailed,
} from '@paylog/webhooks/deliveries/operations/redelivery'
import { type Static, Type } from 'typebox'
import { requestedJob } from '../jobs/jobs.ts'
import { jobResponse } from '../jobs/routes.ts'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'
import { timeOf } from '../times.ts'
import { type BackfillDependencies, backfillWork, startOf } from './backfillJob.ts'

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
    held: Type.Integer({ description: 'How many of them wait, because the endpoint is paused' }),
    is_complete: Type.Boolean({ description: 'False when there are more than one request handles: repeat it' }),
  },
  { title: 'RedeliveredDeliveries' },
)

export type RedeliveredDeliveries = Static<typeof Redelivered>

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

export const EndpointParams = Type.Object({ endpoint: Type.String({ description: 'The name of the endpoint' }) })

/** A longer redelivery is continued by the next request. */
const maxRedeliveryMs = 10_000

const enableSchema = {
  ...administratorSchema('webhooks', 'enableWebhookEndpoint', 'Enable a paused webhook endpoint', 'not_found'),
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
  ...administratorSchema('webhooks', 'redeliverFailedWebhooks', 'Send all failed deliveries again', 'not_found'),
  ...optionalBody,
  description:
    'For administrators. Sends the deliveries of an endpoint that failed and are not retried any more again, with the same ids and ' +
    'bodies and a new retry schedule. While the endpoint is paused or not configured, they wait.',
  params: EndpointParams,
  body: RedeliverBody,
  response: {
    200: dataResponse(Redelivered, {
      description: 'They are sent within seconds',
      examples: [{ deliveries: 12, held: 0, is_complete: true }],
    }),
  },
}

const backfillSchema = {
  ...administratorSchema(
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

/** Each is called by itself in the process of a command. */
export const enableRoutes =
  ({ pool, now }: Pick<OperatorDependencies, 'pool' | 'now'>): FastifyPluginAsyncTypebox =>
  async (http) => {
    const enable = audited(enableSchema, 'enable_webhook_endpoint', async ({ params: { endpoint } }) => {
      if ((await listEndpoints(pool, endpoint)).length === 0) throw unknownEndpoint()
      return { target: endpointTarget(endpoint) }
    })
    http.post(
      '/admin/webhook-endpoints/:endpoint/enable',
      { config: { right: 'operate', audited: enable }, onRequest: allowEmptyBody, schema: enableSchema },
      async ({ params: { endpoint }, actor, log }) => {
        const enabled = await enableEndpoint(pool, endpoint, now())
        if (enabled === undefined) throw unknownEndpoint()
        log.info({ node: endpoint, ...enabled, requestedBy: actorName(actor) }, 'webhook endpoint enabled')
        const data = { endpoint, disabled_at: enabled.disabled_at?.toISOString() ?? null, held: enabled.held }
        return { success: true as const, data }
      },
    )
  }

export const redeliverRoutes =
  (dependencies: Pick<OperatorDependencies, 'pool' | 'now'>): FastifyPluginAsyncTypebox =>
  async (http) => {
    const failedOf = async ({ params: { endpoint }, body }: RequestOf<typeof redeliverSchema>) => {
      const since = body.since === undefined ? undefined : timeOf('body', 'since', body.since)
      const failed = await findFailed(dependencies.pool, { endpoint, since })
      if (failed === undefined) throw unknownEndpoint()
      return { since, failed }
    }
    const redeliver = audited(redeliverSchema, 'redeliver_failed_webhooks', async (request) => {
      const { endpoint } = request.params
      const { since, dry_run } = request.body
      if (dry_run) return undefined
      const { count: deliveries } = (await failedOf(request)).failed
      return { target: endpointTarget(endpoint), details: { since, deliveries } }
    })
    http.post(
      '/admin/webhook-endpoints/:endpoint/redeliver',
      {
        config: { right: 'operate', audited: redeliver },
        onRequest: allowEmptyBody,
        preValidation: defaultBody,
        schema: redeliverSchema,
      },
      async (request) => {
        const { body, actor, log } = request
        const { endpoint } = request.params
        const dryRun = body.dry_run === true
        const { since, failed } = await failedOf(request)
        const data = await redeliverFailed(dependencies, failed, { endpoint, since, dryRun })
        if (!dryRun) log.info({ node: endpoint, ...data, requestedBy: actorName(actor) }, 'failed webhooks redelivered')
        return { success: true as const, data }
      },
    )
  }

export const backfillRoutes =
  (dependencies: BackfillDependencies): FastifyPluginAsyncTypebox =>
  async (http) => {
    const backfillOf = async ({ params, body }: RequestOf<typeof backfillSchema>) => {
      const endpoint = dependencies.endpoints.find(({ name }) => name === params.endpoint)
      if (endpoint === undefined) throw unknownEndpoint()
      return { endpoint, from: await startOf(dependencies, body.from), dryRun: body.dry_run === true }
    }
    const backfill = audited(backfillSchema, 'backfill_webhooks', async (request) => {
      const { endpoint, dryRun } = await backfillOf(request)
      const { from = '0' } = request.body
      return dryRun ? undefined : { target: endpointTarget(endpoint.name), details: { from } }
    })
    http.post(
      '/admin/webhook-endpoints/:endpoint/backfill',
      {
        config: { right: 'operate', audited: backfill },
        onRequest: allowEmptyBody,
        preValidation: defaultBody,
        schema: backfillSchema,
      },
      async (request, reply) => {
        const options = await backfillOf(request)
        const wanted = requestedJob(request, {
          kind: 'backfill',
          subject: options.endpoint.name,
          isDryRun: options.dryRun,
        })
        const data = await dependencies.jobs.start(wanted, backfillWork(dependencies, options))
        reply.code(202)
        return { success: true as const, data }
      },
    )
  }

export const endpointTarget = (id: string) => ({ kind: 'webhook_endpoint', id })

export const unknownEndpoint = () => new DomainError('not_found', 'No webhook endpoint with this name')

/** @throws database errors */
async function redeliverFailed(
  { pool, now }: Pick<OperatorDependencies, 'pool' | 'now'>,
  { count, until, is_held }: FoundFailed,
  {
    endpoint,
    since,
    dryRun,
  }: { readonly endpoint: string; readonly since: Date | undefined; readonly dryRun: boolean },
): Promise<RedeliveredDeliveries> {
  const sent = (deliveries: number, is_complete = true) => ({ deliveries, held: is_held ? deliveries : 0, is_complete })
  if (dryRun || until === null) return sent(count)
  const startedAt = performance.now()
  let deliveries = 0
  for await (const batch of redeliverAllFailed(pool, { endpoint, since, until }, now)) {
    deliveries += batch.length
    if (performance.now() - startedAt > maxRedeliveryMs) return sent(deliveries, deliveries >= count)
  }
  return sent(deliveries)
}
