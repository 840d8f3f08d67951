// POST /webhooks/test and POST /webhooks/external/simulate send test webhooks (interface, sections 4.9 and 4.10). The test
// is recorded together with its planned deliveries, and the worker sends them.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { hasRight, type Session } from '@paylog/domain/actor'
import {
  requestWebhookTest,
  type WebhookTestEvent,
  type WebhookTestFacts,
  webhookTestFold,
} from '@paylog/domain/webhookTest'
import { newStream } from '@paylog/event-store/eventStore'
import { webhookTestStream } from '@paylog/event-store/streamName'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { canonicalMessages } from '@paylog/webhooks/messages/canonical'
import { plannedDeliveries } from '@paylog/webhooks/messages/outbound'
import type { FastifyRequest, RouteShorthandOptions } from 'fastify'
import type { Workflow } from '../context.ts'
import type { RepeatableRequest } from '../request/idempotentRequests.ts'
import { createCardNumberCheck } from '../request/requestBody.ts'
import { type CommandDependencies, repeatableRequest, sessionOf } from '../request/requestContext.ts'
import { replyWith } from '../request/responses.ts'
import { rejectRecordedPayments } from './recordedPayments.ts'
import { maxBodyBytes, simulateSchema, testSchema } from './routeSchemas.ts'
import { parseRequestedName, type RequestedFacts, simulationFacts, testFacts } from './webhookTestFacts.ts'

const limit = 'webhookTests'
const testRoute = '/webhooks/test'
const simulateRoute = '/webhooks/external/simulate'

export type WebhookTestOptions = {
  /** The worker's endpoints. The response lists those that will receive the messages. */
  readonly endpoints: readonly WebhookEndpoint[]
  /** Which sessions may use the two routes. */
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
    const identified = (request: FastifyRequest, route: string) => ({
      ...repeatableRequest(workflow, request, `POST ${route}`),
      session: sessionOf(request),
      endpoints,
    })

    app.post(testRoute, { ...guarded, schema: testSchema }, async (request, reply) => {
      const { event, test_data: sent = {} } = request.body
      const test = identified(request, testRoute)
      const facts = testFacts({ event, test_data: sent, id: test.request_id, at: workflow.now() })
      rejectCardNumbers(request)
      const recorded = await recordTest(workflow, { ...test, type: 'WebhookTestRequested', facts, sent })
      reply.code(202)
      return replyWith(reply, recorded, recorded.data)
    })

    app.post(simulateRoute, { ...guarded, schema: simulateSchema }, async (request, reply) => {
      const { event, provider, payload: sent = {} } = request.body
      const test = identified(request, simulateRoute)
      const name = parseRequestedName(event, provider)
      // Before the error for an unknown provider, because card data must be reported first.
      rejectCardNumbers(request)
      const facts = simulationFacts({ provider, ...name, payload: sent, id: test.request_id, at: workflow.now() })
      const recorded = await recordTest(workflow, { ...test, type: 'WebhookSimulationRequested', facts, sent })
      reply.code(202)
      return replyWith(reply, recorded, recorded.data)
    })
  }

type RecordTest = RepeatableRequest & {
  readonly type: WebhookTestEvent['type']
  readonly session: Session
  readonly facts: RequestedFacts
  /** The payload as the client sent it. */
  readonly sent: Readonly<Record<string, unknown>>
  /** The currently configured endpoints. */
  readonly endpoints: readonly WebhookEndpoint[]
}

/**
 * Records a test, or finds the one that the same Idempotency-Key recorded. A repeated request returns the first plan.
 * @returns the response's data, and what `setWriteHeaders` needs
 * @throws DomainError `idempotency_key_reused`, `event_store_unavailable`; `recorded_payment_id` for a session without the
 *   right `operate`
 */
async function recordTest(workflow: Workflow, request: RecordTest) {
  const { request_id: id, request_fingerprint, type, session, facts, sent, endpoints, metadata } = request
  const { user_id, user_type, user_email } = session
  const test = { stream: webhookTestStream(id), fold: webhookTestFold }
  const assumed =
    request_fingerprint === null ? newStream(test.fold) : await workflow.store.load(test.stream, test.fold)
  // Who operates the endpoints may try them with a payment that exists: redelivery sends its real webhooks to them anyway. A repeated
  // request sends nothing, so it needs no check.
  if (assumed.state === null && !hasRight(session, 'operate')) await rejectRecordedPayments(workflow, sent)
  const data = {
    ...facts,
    webhook_test_id: id,
    requested_by: { id: user_id, type: user_type, email: user_email },
    request_fingerprint,
    plan: { canonical_events: [], deliveries: [] },
  }
  const plan = {
    canonical_events: canonicalMessages({ type, data }).map((message) => message.event),
    deliveries: [...plannedDeliveries({ type, data }, endpoints)],
  }
  const event = { type, data: { ...data, plan } }
  const decide = (recorded: WebhookTestFacts | null) => requestWebhookTest(event, recorded)
  const { state, position, events } = await workflow.store.handle({ ...test, decide, metadata, assumed })
  return { data: { id, ...(state?.plan ?? plan) }, position, replayed: events.length === 0 }
}
