// Records a webhook test or simulation together with its planned deliveries.
import type { Session } from '@paylog/domain/actor'
import type { LogPosition } from '@paylog/domain/events'
import {
  type DispatchPlan,
  requestWebhookTest,
  type WebhookTestEvent,
  type WebhookTestFacts,
  webhookTestFold,
} from '@paylog/domain/webhookTest'
import { newStream } from '@paylog/event-store/eventStore'
import { webhookTestStream } from '@paylog/event-store/streamName'
import { canonicalMessages } from '@paylog/webhooks/canonical'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { plannedDeliveries } from '@paylog/webhooks/outbound'
import type { Workflow } from '@paylog/workflows/context'
import type { RepeatableRequest } from '@paylog/workflows/idempotentRequests'
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
}

export type RecordedTest = {
  readonly data: DispatchPlan & { readonly id: string }
  readonly position: LogPosition | undefined
  /** True when an earlier request with the same key recorded it. */
  readonly replayed: boolean
}

/**
 * Records a test, or finds the one that the same Idempotency-Key recorded. The worker sends the deliveries. A repeated
 * request returns the first plan.
 * @throws DomainError `idempotency_key_reused`, `event_store_unavailable`; `recorded_payment_id` unless the session is an
 *   administrator's
 */
export async function recordTest(workflow: Workflow, request: RecordTest): Promise<RecordedTest> {
  const { request_id: id, request_fingerprint, type, session, facts, sent, endpoints, metadata } = request
  const { user_id, user_type, user_email, is_administrator } = session
  const test = { stream: webhookTestStream(id), fold: webhookTestFold }
  const known = request_fingerprint === null ? newStream(test.fold) : await workflow.store.load(test.stream, test.fold)
  // A repeated request sends nothing, so it needs no check.
  if (known.state === null && !is_administrator) await rejectRecordedPayments(workflow, sent)
  const data = {
    ...facts,
    webhook_test_id: id,
    requested_by: { id: user_id, type: user_type, email: user_email },
    request_fingerprint,
    plan: { canonical_events: [], deliveries: [] },
  }
  const event = { type, data: { ...data, plan: planOf({ type, data }, endpoints) } }
  const decide = (recorded: WebhookTestFacts | null) => requestWebhookTest(event, recorded)
  const { state, position, events } = await workflow.store.handle({ ...test, decide, metadata, known })
  return { data: { id, ...(state ?? event.data).plan }, position, replayed: events.length === 0 }
}

function planOf(event: WebhookTestEvent, endpoints: readonly WebhookEndpoint[]): DispatchPlan {
  return {
    canonical_events: canonicalMessages(event).map(({ name }) => name),
    deliveries: [...plannedDeliveries(event, endpoints)],
  }
}
