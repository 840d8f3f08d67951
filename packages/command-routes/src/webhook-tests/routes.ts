// POST /webhooks/test and POST /webhooks/external/simulate: trying endpoints out (interface, sections 4.9 and 4.10).
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { WebhookNode } from '@paylog/webhooks/nodes/nodes'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { markAnswer } from '../answers.ts'
import { requestIdentity } from '../idempotency.ts'
import { watchForCardNumbers } from '../refuseCardNumbers.ts'
import { metadataOf, sessionOf, type Writing } from '../writing.ts'
import { type RecordedTest, recordTest } from './recordTest.ts'
import { maxBodyBytes, simulateSchema, testSchema } from './routeSchemas.ts'
import { askedName, simulationFacts, simulatorOf } from './simulation.ts'
import { testFacts } from './testMessage.ts'

const testRoute = '/webhooks/test'
const simulateRoute = '/webhooks/external/simulate'

export type WebhookTesting = {
  /** The endpoints that the worker sends to. The response lists those that the messages are for. */
  readonly nodes: readonly WebhookNode[]
  /** Whether every session may use the two routes, or those of administrators alone. */
  readonly testsBy: 'session' | 'admin'
}

export const webhookTestRoutes =
  ({ workflow, callers }: Writing, { nodes, testsBy }: WebhookTesting): FastifyPluginAsyncTypebox =>
  async (app) => {
    const refuseCardNumbers = watchForCardNumbers(app)
    const guarded = {
      onRequest: testsBy === 'admin' ? callers.administrator : callers.session,
      bodyLimit: maxBodyBytes,
      config: { limit: 'webhookTests' },
    } as const
    const identify = (request: FastifyRequest, route: string) => ({
      session: sessionOf(request),
      identity: requestIdentity(request.headers['idempotency-key'], request.actor, `POST ${route}`, request.body),
      nodes,
      metadata: metadataOf(request),
    })

    app.post(testRoute, { ...guarded, schema: testSchema }, async (request, reply) => {
      const { event, test_data: sent = {} } = request.body
      const asked = identify(request, testRoute)
      const facts = testFacts({ event, test_data: sent, id: asked.identity.id, at: workflow.now() })
      refuseCardNumbers(request)
      return answer(reply, await recordTest(workflow, { type: 'WebhookTestRequested', facts, sent, ...asked }))
    })

    app.post(simulateRoute, { ...guarded, schema: simulateSchema }, async (request, reply) => {
      const { payload: sent = {}, ...names } = request.body
      const asked = identify(request, simulateRoute)
      const name = askedName(names)
      const simulator = simulatorOf(names.provider, () => refuseCardNumbers(request))
      const made = { simulator, id: asked.identity.id, at: workflow.now() }
      const facts = simulationFacts({ ...names, payload: sent }, name, made)
      refuseCardNumbers(request)
      return answer(reply, await recordTest(workflow, { type: 'WebhookSimulationRequested', facts, sent, ...asked }))
    })
  }

function answer(reply: FastifyReply, { id, canonical_events, deliveries, position, replayed }: RecordedTest) {
  reply.code(202)
  markAnswer(reply, { position, replayed })
  return { success: true as const, data: { id, canonical_events, deliveries } }
}
