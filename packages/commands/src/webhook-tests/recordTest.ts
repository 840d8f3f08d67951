// Records a webhook test together with its planned deliveries. The worker sends them.
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
import type { Workflow } from '../context.ts'
import type { RepeatableRequest } from '../request/idempotentRequests.ts'
import { rejectRecordedPayments } from './recordedPayments.ts'
import type { RequestedFacts } from './webhookTestFacts.ts'

export type RecordTest = RepeatableRequest & {
  readonly type: WebhookTestEvent['type']
  readonly session: Session
  readonly facts: RequestedFacts
  /** The payload as the client sent it. */
  readonly sent: Readonly<Record<string, unknown>>
  /** The currently configured endpoints. */
  readonly endpoints: readonly WebhookEndpoint[]
  /** The only one that gets it; without it, all that are subscribed do. */
  readonly only?: string
}

/**
 * Records a test, or finds the one that the same Idempotency-Key recorded. A repeated request returns the first plan.
 * @returns the response's data, and what `setWriteHeaders` needs
 * @throws DomainError `idempotency_key_reused`, `event_store_unavailable`; `recorded_payment_id` for a session without the
 *   right `operate`
 */
export async function recordTest(workflow: Workflow, request: RecordTest) {
  const { request_id: id, request_fingerprint, type, session, facts, sent, endpoints, only, metadata } = request
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
    ...(only !== undefined && { endpoint: only }),
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
