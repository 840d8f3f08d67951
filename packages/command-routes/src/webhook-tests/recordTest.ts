// Putting a test or a simulation on record, with what will go out because of it.
import type { Session } from '@paylog/domain/actor'
import type { EventMetadata, LogPosition } from '@paylog/domain/events'
import {
  type DispatchPlan,
  requestWebhookTest,
  type WebhookTestEvent,
  webhookTestFold,
} from '@paylog/domain/webhookTest'
import { newStream } from '@paylog/event-store/eventStore'
import { webhookTestStream } from '@paylog/event-store/streamName'
import { canonicalMessages } from '@paylog/webhooks/canonical'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import { plannedDeliveries } from '@paylog/webhooks/outbound'
import type { Workflow } from '@paylog/workflows/context'
import type { RequestIdentity } from '../idempotency.ts'
import { rejectRecordedPayments } from './recordedPayments.ts'
import type { RequestedFacts } from './webhookTestFacts.ts'

export type RecordTest = {
  readonly type: WebhookTestEvent['type']
  readonly identity: RequestIdentity
  readonly session: Session
  readonly facts: RequestedFacts
  /** The payload as the client sent it. */
  readonly sent: Readonly<Record<string, unknown>>
  /** The endpoints that are configured now. */
  readonly endpoints: readonly WebhookEndpoint[]
  readonly metadata: EventMetadata
}

export type RecordedTest = DispatchPlan & {
  readonly id: string
  readonly position: LogPosition | undefined
  /** Whether an earlier request had asked for it. */
  readonly replayed: boolean
}

const newTest = newStream(webhookTestFold)

/**
 * Asks for the messages, or finds what the same Idempotency-Key asked for before. The worker sends them; a request that
 * is repeated is answered with the plan that was made the first time.
 * @throws DomainError `idempotency_key_reused`, `event_store_unavailable`; `recorded_payment_id` unless an administrator asks
 */
export async function recordTest({ store }: Workflow, request: RecordTest): Promise<RecordedTest> {
  const { type, identity, session, facts, sent, endpoints, metadata } = request
  const { user_id, user_type, user_email, is_administrator } = session
  const known =
    identity.fingerprint === null ? newTest : await store.load(webhookTestStream(identity.id), webhookTestFold)
  // A repeated request sends nothing, whatever was recorded since.
  if (known.state === null && !is_administrator) await rejectRecordedPayments(store, sent)
  const data = {
    ...facts,
    webhook_test_id: identity.id,
    requested_by: { id: user_id, type: user_type, email: user_email },
    request_fingerprint: identity.fingerprint,
    plan: { canonical_events: [], deliveries: [] },
  }
  const event = { type, data: { ...data, plan: planOf({ type, data }, endpoints) } }
  const { state, position, events } = await store.handle({
    stream: webhookTestStream(identity.id),
    fold: webhookTestFold,
    decide: (current) => requestWebhookTest(event, current),
    metadata,
    known,
  })
  const { canonical_events, deliveries } = state?.plan ?? event.data.plan
  return { id: identity.id, canonical_events, deliveries, position, replayed: events.length === 0 }
}

function planOf(event: WebhookTestEvent, nodes: readonly WebhookEndpoint[]): DispatchPlan {
  return {
    canonical_events: canonicalMessages(event).map(({ name }) => name),
    deliveries: [...plannedDeliveries(event, nodes)],
  }
}
