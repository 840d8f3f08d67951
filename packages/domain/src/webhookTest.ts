// Messages that somebody asked for to try his endpoints out: tests, and simulations of a provider's notification.
import { type Static, Type } from 'typebox'
import type { EventsOf, Fold } from './events.ts'
import { Id, Instant, Nullable } from './fields.ts'
import { requireSameRequest } from './idempotentRequest.ts'
import { SubscriptionFacts, subject } from './providerEvents.ts'

/** What was to go to one node when it was asked for. */
export const PlannedDelivery = Type.Object({ node: Type.String(), event: Type.String(), mode: Type.String() })
export type PlannedDelivery = Static<typeof PlannedDelivery>

/** What the request is answered, kept for those who repeat it. */
export const DispatchPlan = Type.Object({
  canonical_events: Type.Array(Type.String()),
  deliveries: Type.Array(PlannedDelivery),
})
export type DispatchPlan = Static<typeof DispatchPlan>

/**
 * The facts that a message is made of, as a provider's notification would have them. Either `canonical_name` is set, and
 * one canonical event of that name was asked for; or `body` and `provider_type` are, and it is treated as a notification.
 */
const facts = {
  webhook_test_id: Id,
  occurred_at: Instant,
  /** The user who asked, who may see in the log what became of it. */
  requested_by: Type.Object({ id: Type.String(), type: Type.String(), email: Nullable(Type.String()) }),
  provider_id: Type.String(),
  canonical_name: Nullable(Type.String()),
  /** The provider's own name of the type. */
  provider_type: Nullable(Type.String()),
  /** The name of interface section 6.1, where there is one. */
  generic_type: Nullable(Type.String()),
  /** The notification as the provider would have sent it. */
  body: Nullable(Type.String()),
  ...subject,
  customer_id: Nullable(Type.String()),
  customer_email: Nullable(Type.String()),
  subscription: Type.Optional(SubscriptionFacts),
  /** SHA-256 of the request's body; null without an Idempotency-Key. */
  request_fingerprint: Nullable(Type.String()),
  plan: DispatchPlan,
}

export const webhookTestEvents = {
  /** POST /webhooks/test: about the user who asked. */
  WebhookTestRequested: Type.Object(facts),
  /** POST /webhooks/external/simulate: about the provider's customer. */
  WebhookSimulationRequested: Type.Object(facts),
}
export type WebhookTestEvent = EventsOf<typeof webhookTestEvents>
export type WebhookTestFacts = WebhookTestEvent['data']

/** What was asked for under an id; null when nothing was. */
export const webhookTestFold: Fold<WebhookTestFacts | null, WebhookTestEvent> = {
  initialState: null,
  evolve: (_state, event) => event.data,
}

// The decision of a request to try endpoints out.

/**
 * Asks for a test or a simulation. What was asked for before stays as it was.
 * @param recorded what is on record under the same id
 * @throws DomainError `idempotency_key_reused`
 */
export function requestWebhookTest(event: WebhookTestEvent, recorded: WebhookTestFacts | null): WebhookTestEvent[] {
  if (recorded === null) return [event]
  requireSameRequest(recorded, event.data.request_fingerprint)
  return []
}
