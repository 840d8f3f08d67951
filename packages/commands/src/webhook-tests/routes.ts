// POST /webhooks/test and POST /webhooks/external/simulate send test webhooks (interface, sections 4.9 and 4.10). The test
// is recorded together with its planned deliveries, and the worker sends them.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { hasRight } from '@paylog/domain/actor'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import type { FastifyRequest, RouteShorthandOptions } from 'fastify'
import { createCardNumberCheck } from '../request/requestBody.ts'
import { type CommandDependencies, repeatableRequest, sessionOf } from '../request/requestContext.ts'
import { replyWith } from '../request/responses.ts'
import { rejectRecordedPayments } from './recordedPayments.ts'
import { recordTest } from './recordTest.ts'
import { maxBodyBytes, simulateSchema, testSchema } from './routeSchemas.ts'
import { parseRequestedName, simulationFacts, testFacts } from './webhookTestFacts.ts'

const limit = 'webhookTests'
const testRoute = '/webhooks/test'
const simulateRoute = '/webhooks/external/simulate'

export type WebhookTestOptions = {
  /** The worker's endpoints. The response lists those that will receive the messages. */
  readonly endpoints: readonly WebhookEndpoint[]
  /** Which sessions may use the two routes: any, or those with the right `operate`. */
  readonly testsBy: 'session' | 'admin'
}

export const webhookTestRoutes =
  ({ workflow }: CommandDependencies, { endpoints, testsBy }: WebhookTestOptions): FastifyPluginAsyncTypebox =>
  async (app) => {
    const rejectCardNumbers = createCardNumberCheck(app)
    const guarded = {
      config: testsBy === 'admin' ? { limit, right: 'operate', audited: null } : { limit, callers: 'session' },
      bodyLimit: maxBodyBytes,
    } satisfies RouteShorthandOptions
    const identified = (request: FastifyRequest, route: string, sent: Readonly<Record<string, unknown>>) => {
      const session = sessionOf(request)
      // Who operates the endpoints may try them with a payment that exists: redelivery sends its real webhooks to them anyway.
      const check = () => (hasRight(session, 'operate') ? Promise.resolve() : rejectRecordedPayments(workflow, sent))
      return { ...repeatableRequest(workflow, request, `POST ${route}`), session, endpoints, check }
    }

    app.post(testRoute, { ...guarded, schema: testSchema }, async (request, reply) => {
      const { event, test_data: sent = {} } = request.body
      const test = identified(request, testRoute, sent)
      const facts = testFacts({ event, test_data: sent, id: test.request_id, at: workflow.now() })
      rejectCardNumbers(request)
      const recorded = await recordTest(workflow, { ...test, type: 'WebhookTestRequested', facts })
      reply.code(202)
      return replyWith(reply, recorded, recorded.data)
    })

    app.post(simulateRoute, { ...guarded, schema: simulateSchema }, async (request, reply) => {
      const { event, provider, payload: sent = {} } = request.body
      const test = identified(request, simulateRoute, sent)
      const name = parseRequestedName(event, provider)
      // Before the error for an unknown provider, because card data must be reported first.
      rejectCardNumbers(request)
      const facts = simulationFacts({ provider, ...name, payload: sent, id: test.request_id, at: workflow.now() })
      const recorded = await recordTest(workflow, { ...test, type: 'WebhookSimulationRequested', facts })
      reply.code(202)
      return replyWith(reply, recorded, recorded.data)
    })
  }
