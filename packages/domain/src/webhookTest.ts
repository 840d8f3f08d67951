// Requests for test webhooks and for simulated provider notifications.
import { type Static, Type } from 'typebox'
import { userOwner } from './actor.ts'
import type { EventsOf, Fold } from './events.ts'
import { Id, Instant, Nullable } from './fields.ts'
import { requireSameRequest } from './idempotentRequest.ts'
import { PersonalText, Sealed, subjectNamed } from './personalData.ts'
import { SharedFact, SubscriptionFacts, subject } from './providerEvents.ts'

/** A delivery to one endpoint, as planned when the test was requested. */
export const PlannedDelivery = Type.Object(
  { node: Type.String(), event: Type.String(), mode: Type.String() },
  { title: 'PlannedDelivery' },
)
export type PlannedDelivery = Static<typeof PlannedDelivery>

/** The response to the request, recorded for repeated requests. */
export const DispatchPlan = Type.Object({
  canonical_events: Type.Array(Type.String()),
  deliveries: Type.Array(PlannedDelivery),
})
export type DispatchPlan = Static<typeof DispatchPlan>

/**
 * The fields that the webhooks are built from. If `canonical_name` is set, one canonical event of that name is sent.
 * Otherwise `body` and `provider_type` are set and are handled like a provider notification.
 */
const facts = {
  webhook_test_id: Id,
  occurred_at: Instant,
  /** The user who requested it and may see its deliveries in the log. */
  requested_by: Type.Object({ id: Type.String(), type: Type.String(), email: PersonalText }),
  provider_id: Type.String(),
  canonical_name: Nullable(Type.String()),
  /** The provider's name for the event type. */
  provider_type: Nullable(Type.String()),
  /** The generic name (interface, section 6.1), if any. */
  generic_type: Nullable(Type.String()),
  /** The body as the provider would send it. */
  body: Sealed('body', Type.String()),
  ...subject,
  customer_id: Nullable(Type.String()),
  customer_email: PersonalText,
  subscription: Nullable(SubscriptionFacts),
  /** As in `ProviderEventUnmatched`; a simulated notification is always the first. */
  shared_fact: Type.Optional(Nullable(SharedFact)),
  /** SHA-256 of the request's body, which may name a person; null without an Idempotency-Key. */
  request_fingerprint: PersonalText,
  plan: DispatchPlan,
}

export const webhookTestEvents = {
  /** POST /webhooks/test, and …/{endpoint}/test of administrators: the webhook's user is the requesting user. */
  WebhookTestRequested: Type.Object({
    ...facts,
    /** The only endpoint that gets it, whatever its patterns; without it, all that are subscribed do. */
    endpoint: Type.Optional(Type.String()),
  }),
  /** POST /webhooks/external/simulate: the webhook's user is the provider's customer. */
  WebhookSimulationRequested: Type.Object(facts),
}
export type WebhookTestEvent = EventsOf<typeof webhookTestEvents>
export type WebhookTestFacts = WebhookTestEvent['data']

/** Folds to the recorded request; null when there is none. */
export const webhookTestFold: Fold<WebhookTestFacts | null, WebhookTestEvent> = {
  initialState: null,
  evolve: (_state, event) => event.data,
  subjectOf: (state) => subjectNamed(state && userOwner(state.requested_by.id)),
}

/**
 * Requests a test or a simulation. A repeated request changes nothing.
 * @param recorded the earlier request with the same id, if any
 * @throws DomainError `idempotency_key_reused`
 */
export function requestWebhookTest(event: WebhookTestEvent, recorded: WebhookTestFacts | null): WebhookTestEvent[] {
  if (recorded === null) return [event]
  requireSameRequest(recorded, event.data.request_fingerprint)
  return []
}
