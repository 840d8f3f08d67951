// Records a webhook test together with its planned deliveries. The worker sends them.
import type { Session } from '@paylog/domain/actor'
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
import type { RequestedFacts } from './webhookTestFacts.ts'

export type RecordTest = RepeatableRequest & {
  readonly type: WebhookTestEvent['type']
  readonly session: Session
  readonly facts: RequestedFacts
  /** The currently configured endpoints. */
  readonly endpoints: readonly WebhookEndpoint[]
  /** The only one that gets it; without it, all that are subscribed do. */
  readonly only?: string
  /** Throws what keeps the test from being recorded. Not called for a repeated request, which sends nothing. */
  readonly check?: () => Promise<void>
}

/**
 * Records a test, or finds the one that the same Idempotency-Key recorded. A repeated request returns the first plan.
 * @returns the response's data, and what `setWriteHeaders` needs
 * @throws DomainError `idempotency_key_reused`, `event_store_unavailable`, and what `check` throws
 */
export async function recordTest({ store }: Pick<Workflow, 'store'>, request: RecordTest) {
  const { request_id: id, request_fingerprint, type, session, facts, endpoints, only, check, metadata } = request
  const { user_id, user_type, user_email } = session
  const test = { stream: webhookTestStream(id), fold: webhookTestFold }
  const assumed = request_fingerprint === null ? newStream(test.fold) : await store.load(test.stream, test.fold)
  if (assumed.state === null) await check?.()
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
  const { state, position, events } = await store.handle({ ...test, decide, metadata, assumed })
  return { data: { id, ...(state?.plan ?? plan) }, position, replayed: events.length === 0 }
}
