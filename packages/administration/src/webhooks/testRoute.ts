// POST /admin/webhook-endpoints/{endpoint}/test sends a test to one endpoint.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { createCardNumberCheck } from '@paylog/commands/request/requestBody'
import { repeatableRequest, sessionOf } from '@paylog/commands/request/requestContext'
import { IdempotencyHeaders } from '@paylog/commands/request/requestIdentity'
import { replyWith, writeErrors } from '@paylog/commands/request/responses'
import { recordTest } from '@paylog/commands/webhook-tests/recordTest'
import { accepted, maxBodyBytes, TestBody } from '@paylog/commands/webhook-tests/routeSchemas'
import { testFacts } from '@paylog/commands/webhook-tests/webhookTestFacts'
import { audited, type RequestOf } from '@paylog/runtime/http/guardRoutes'
import { optionalBody } from '@paylog/runtime/http/openApiSchemas'
import { allowEmptyBody, defaultBody } from '@paylog/runtime/http/optionalBody'
import type { EventMode } from '@paylog/webhooks/endpoints/endpoints'
import { Type } from 'typebox'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'
import { EndpointParams, endpointTarget, unknownEndpoint } from './endpointActions.ts'

/** What an endpoint gets when the request names no event: one that its mode lets through. */
const defaultEvents: Readonly<Record<EventMode, string>> = {
  canonical: 'payment.succeeded',
  both: 'payment.succeeded',
  raw: 'payment_intent.succeeded',
  legacy: 'payment_intent.succeeded',
}

const Body = Type.Object(
  {
    event: Type.Optional(
      Type.With(TestBody.properties.event, {
        description: `A canonical or generic event name; by default ${defaultEvents.canonical}, or ${defaultEvents.raw} in the modes raw and legacy`,
      }),
    ),
    test_data: TestBody.properties.test_data,
  },
  {
    title: 'NewEndpointTest',
    examples: [{ event: 'payment.succeeded', test_data: { amount: 2599, currency: 'EUR' } }, {}],
  },
)

const schema = {
  ...administratorSchema('webhooks', 'testWebhookEndpoint', 'Send a test to one webhook endpoint'),
  ...writeErrors(['not_found', 'idempotency_key_reused']),
  ...optionalBody,
  description:
    'For administrators. Sends a made-up event of the sandbox provider, as POST /webhooks/test does, but to this endpoint only and whatever ' +
    'its patterns. `deliveries` is empty when the mode of the endpoint leaves this event out: canonical names are for canonical endpoints. ' +
    'The endpoint must be configured here as for the worker. While it is paused, the test waits.',
  params: EndpointParams,
  headers: IdempotencyHeaders,
  body: Body,
  response: accepted({
    canonical_events: ['payment.succeeded'],
    deliveries: [{ node: '1', event: 'payment.succeeded', mode: 'canonical' }],
  }),
}

type Request = RequestOf<typeof schema>

export const endpointTestRoute =
  ({ store, endpoints, now }: Pick<OperatorDependencies, 'store' | 'endpoints' | 'now'>): FastifyPluginAsyncTypebox =>
  async (http) => {
    const rejectCardNumbers = createCardNumberCheck(http)
    const identityOf = (request: Request) =>
      repeatableRequest({ store }, request, `POST /admin/webhook-endpoints/${request.params.endpoint}/test`)

    /** @throws DomainError `not_found`, `invalid_request` */
    function testOf(request: Request) {
      const endpoint = endpoints.find(({ name }) => name === request.params.endpoint)
      if (endpoint === undefined) throw unknownEndpoint()
      const { event = defaultEvents[endpoint.mode], test_data = {} } = request.body
      const identity = identityOf(request)
      const facts = testFacts({ event, test_data, id: identity.request_id, at: now() })
      return { ...identity, type: 'WebhookTestRequested', session: sessionOf(request), facts, event } as const
    }

    const test = audited(schema, 'test_webhook_endpoint', (request) => {
      const { event, request_id, request_fingerprint } = testOf(request)
      rejectCardNumbers(request)
      const keyed = { request_id, request_fingerprint }
      return { target: endpointTarget(request.params.endpoint), details: { event }, keyed }
    })
    http.post(
      '/admin/webhook-endpoints/:endpoint/test',
      {
        config: { right: 'operate', audited: test },
        bodyLimit: maxBodyBytes,
        onRequest: allowEmptyBody,
        preValidation: defaultBody,
        schema,
      },
      async (request, reply) => {
        const recorded = await recordTest({ store }, { ...testOf(request), endpoints, only: request.params.endpoint })
        reply.code(202)
        return replyWith(reply, recorded, recorded.data)
      },
    )
  }
