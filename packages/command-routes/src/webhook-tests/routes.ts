// POST /webhooks/test and POST /webhooks/external/simulate send test webhooks (interface, sections 4.9 and 4.10).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { requestIdentity } from '../idempotency.ts'
import { createCardNumberCheck } from '../requestBody.ts'
import { type CommandDependencies, metadataOf, sessionOf } from '../requestContext.ts'
import { setWriteHeaders } from '../responses.ts'
import { type RecordedTest, recordTest } from './recordTest.ts'
import { maxBodyBytes, simulateSchema, testSchema } from './routeSchemas.ts'
import { parseRequestedName, simulationFacts, simulatorOf, testFacts } from './webhookTestFacts.ts'

const testRoute = '/webhooks/test'
const simulateRoute = '/webhooks/external/simulate'

export type WebhookTestOptions = {
  /** The worker's endpoints. The response lists those that will receive the messages. */
  readonly endpoints: readonly WebhookEndpoint[]
  /** Which sessions may use the two routes. */
  readonly testsBy: 'session' | 'admin'
}

export const webhookTestRoutes =
  ({ workflow, callers }: CommandDependencies, { endpoints, testsBy }: WebhookTestOptions): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rejectCardNumbers = createCardNumberCheck(app)
    const guarded = {
      onRequest: testsBy === 'admin' ? callers.administrator : callers.session,
      bodyLimit: maxBodyBytes,
      config: { limit: 'webhookTests' },
    } as const
    const identify = (request: FastifyRequest, route: string) => ({
      session: sessionOf(request),
      identity: requestIdentity(request.headers['idempotency-key'], request.actor, `POST ${route}`, request.body),
      endpoints,
      metadata: metadataOf(request),
    })

    app.post(testRoute, { ...guarded, schema: testSchema }, async (request, reply) => {
      const { event, test_data: sent = {} } = request.body
      const requested = identify(request, testRoute)
      const facts = testFacts({ event, test_data: sent, id: requested.identity.id, at: workflow.now() })
      rejectCardNumbers(request)
      return webhookTestResponse(
        reply,
        await recordTest(workflow, { type: 'WebhookTestRequested', facts, sent, ...requested }),
      )
    })

    app.post(simulateRoute, { ...guarded, schema: simulateSchema }, async (request, reply) => {
      const { payload: sent = {}, ...names } = request.body
      const requested = identify(request, simulateRoute)
      const name = parseRequestedName(names)
      const simulator = simulatorOf(names.provider, () => rejectCardNumbers(request))
      const origin = { simulator, id: requested.identity.id, at: workflow.now() }
      const facts = simulationFacts({ ...names, payload: sent }, name, origin)
      rejectCardNumbers(request)
      return webhookTestResponse(
        reply,
        await recordTest(workflow, { type: 'WebhookSimulationRequested', facts, sent, ...requested }),
      )
    })
  }

function webhookTestResponse(
  reply: FastifyReply,
  { id, canonical_events, deliveries, position, replayed }: RecordedTest,
) {
  reply.code(202)
  setWriteHeaders(reply, { position, replayed })
  return { success: true as const, data: { id, canonical_events, deliveries } }
}
