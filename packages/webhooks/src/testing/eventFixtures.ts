// Sample events that lead to webhooks, and endpoints that receive them.
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import { decodeEndpoints, type WebhookEndpoint } from '../endpoints/endpoints.ts'
import { type Outbound, outboundMessages, type SourceEvent } from '../messages/outbound.ts'
import { type NamedFacts, webhookFacts } from '../messages/webhookFacts.ts'

export type DataOf<Type extends RecordedDomainEvent['type']> = Extract<RecordedDomainEvent, { type: Type }>['data']

export const payment_id = '0190a000-0000-7000-8000-000000000001'
const payer = { id: 'u1', type: 'customer', email: 'ann@example.com' }
const occurred_at = '2026-01-02T03:04:05.678Z'

export const ourPayment: DataOf<'PaymentSucceeded'> = {
  payment_id,
  occurred_at,
  provider_id: 'stripe',
  amount_cents: 2200,
  currency: 'USD',
  payer,
  project_id: null,
  provider_time: occurred_at,
  provider_event_id: 'evt_1',
  provider_payment_id: 'ch_1',
  received_cents: 2200,
}

/** A refund of 7.00 USD of that payment. */
export const refund: DataOf<'RefundRecorded'> = {
  ...ourPayment,
  refund_id: '0190a000-0000-7000-8000-000000000002',
  provider_refund_id: 're_1',
  refund_cents: 700,
  status: 'succeeded',
  was_succeeded: false,
  reason: 'requested_by_customer',
  note: 'A note',
  failure_code: null,
  payment_status: 'succeeded',
  attention: null,
}
export const refundRecorded = (more: Partial<DataOf<'RefundRecorded'>> = {}): RecordedDomainEvent => ({
  type: 'RefundRecorded',
  data: { ...refund, ...more },
})

/** A dispute over the whole payment. */
export const dispute: DataOf<'PaymentDisputeRecorded'> = {
  ...ourPayment,
  dispute_id: '0190a000-0000-7000-8000-000000000003',
  provider_dispute_id: 'dp_1',
  status: 'open',
  is_new_status: true,
  provider_status: 'needs_response',
  reason: 'product_not_received',
  evidence_due_by: '2026-01-12T23:59:59.000Z',
  disputed_cents: 2200,
  payment_status: 'succeeded',
}
export const disputeRecorded = (more: Partial<DataOf<'PaymentDisputeRecorded'>> = {}): RecordedDomainEvent => ({
  type: 'PaymentDisputeRecorded',
  data: { ...dispute, ...more },
})

/** Events with and without a mark for attention. */
export const mismatched = (more: Partial<DataOf<'PaymentAmountMismatch'>> = {}): RecordedDomainEvent => ({
  type: 'PaymentAmountMismatch',
  data: { ...ourPayment, reported_amount_cents: 1, reported_currency: 'USD', attention: null, ...more },
})
export const conflicted = (more: Partial<DataOf<'PaymentConflictDetected'>> = {}): RecordedDomainEvent => ({
  type: 'PaymentConflictDetected',
  data: {
    ...ourPayment,
    reported_status: 'succeeded',
    reported_amount_cents: 2200,
    reported_currency: 'USD',
    attention: null,
    ...more,
  },
})
export const ignored = (more: Partial<DataOf<'ProviderEventIgnored'>> = {}): RecordedDomainEvent => ({
  type: 'ProviderEventIgnored',
  data: {
    ...ourPayment,
    reported_status: 'failed',
    reason: 'final',
    reported_intent_id: null,
    attention: null,
    ...more,
  },
})

/** Facts of a message, of which only the event is known. */
export const bareFacts: NamedFacts = {
  ...webhookFacts({ provider_id: 'stripe', occurred_at, amount_cents: null, currency: null }),
  event: 'stripe:customer.created',
}
/** Facts of a message about a payment. */
export const paymentFacts: NamedFacts = {
  ...bareFacts,
  event: 'payment.succeeded',
  amount: 2200,
  currency: 'USD',
  user: payer,
  status: 'succeeded',
  payment_id,
}
/** The field of facts that name only a customer's e-mail. */
export const customerNamed = (email: string | null) => ({ user: { id: null, type: 'customer', email } })

const paymentNotification = {
  provider_id: 'stripe',
  provider_event_id: 'evt_1',
  provider_type: 'payment_intent.succeeded',
  generic_type: 'payment_intent.succeeded',
  provider_time: '2026-01-02T03:04:05.000Z',
  occurred_at,
}
const subject = { object_id: 'pi_1', amount_cents: 2200, currency: 'usd', status: 'succeeded' }
const customer = { customer_id: 'cus_1', customer_email: 'bo@example.com', subscription: null }

export const received = (more: Partial<DataOf<'ProviderEventReceived'>> = {}): RecordedDomainEvent => ({
  type: 'ProviderEventReceived',
  data: { ...paymentNotification, body: '{"id":"evt_1", "amount":22.00}', ...more },
})

export const applied = (more: Partial<DataOf<'ProviderEventApplied'>> = {}): RecordedDomainEvent => ({
  type: 'ProviderEventApplied',
  data: { ...paymentNotification, ...subject, payment_id, payer, project_id: null, is_foreign_intent: false, ...more },
})

export const appliedToMethod = (): RecordedDomainEvent => ({
  type: 'ProviderEventAppliedToMethod',
  data: {
    ...paymentNotification,
    provider_type: 'payment_method.automatically_updated',
    generic_type: 'payment_method.updated',
    object_id: 'pm_1',
    payment_method_id: payment_id,
  },
})

export const unmatched = (more: Partial<DataOf<'ProviderEventUnmatched'>> = {}): RecordedDomainEvent => ({
  type: 'ProviderEventUnmatched',
  data: { ...paymentNotification, ...subject, ...customer, ...more },
})

const testRequest: DataOf<'WebhookTestRequested'> = {
  webhook_test_id: payment_id,
  occurred_at,
  requested_by: { id: 'u7', type: 'admin', email: 'cy@example.com' },
  provider_id: 'stripe',
  canonical_name: null,
  provider_type: paymentNotification.provider_type,
  generic_type: paymentNotification.generic_type,
  body: '{"id":"evt_1", "amount":22.00}',
  ...subject,
  ...customer,
  request_fingerprint: null,
  plan: { canonical_events: [], deliveries: [] },
}
/** The fields of a test request for a canonical event. */
export const canonicalOnly = { provider_type: null, generic_type: null, body: null }

export const tested = (more: Partial<DataOf<'WebhookTestRequested'>> = {}): RecordedDomainEvent => ({
  type: 'WebhookTestRequested',
  data: { ...testRequest, ...more },
})
export const simulated = (more: Partial<DataOf<'WebhookSimulationRequested'>> = {}): RecordedDomainEvent => ({
  type: 'WebhookSimulationRequested',
  data: { ...testRequest, ...more },
})

export const recorded = (event: RecordedDomainEvent, stream = 'providerEvent-stripe:evt_1'): SourceEvent => ({
  ...event,
  id: '0190a000-0000-7000-8000-0000000000ff',
  stream,
  revision: 1n,
  metadata: { correlationId: 'req-1', causationId: 'cmd-1', actor: 'provider:stripe' },
  sealed: {},
})

export type Settings = Readonly<Record<string, string>>

/** The variables of one numbered endpoint. */
export function endpointSettings(index: number, mode: string, more: Settings = {}): Settings {
  const own = { ENABLED: 'true', URL: `https://example.com/${index}`, EVENT_MODE: mode, ...more }
  return Object.fromEntries(Object.entries(own).map(([suffix, value]) => [`WEBHOOK_${index}_${suffix}`, value]))
}

export function endpointsFrom(...settings: readonly Settings[]): readonly WebhookEndpoint[] {
  const { endpoints, problems } = decodeEndpoints(Object.assign({}, ...settings))
  if (problems.length > 0) throw new Error(problems.join())
  return endpoints
}

/** The webhooks of an event for the endpoints of these variables. */
export function messagesTo(event: RecordedDomainEvent, ...settings: readonly Settings[]): Outbound[] {
  return outboundMessages(recorded(event), endpointsFrom(...settings), { projectId: 'shop', projectIds: ['listed'] })
}

export const subscriptionNotification = {
  ...paymentNotification,
  provider_type: 'customer.subscription.updated',
  generic_type: 'subscription.updated',
}

/** The subscription of a notification without a status change. */
export const unchangedSubscription = {
  subscription_id: 'sub_1',
  current_period_end: '2026-02-02T03:04:05.000Z',
  status_changed: false,
  is_first_invoice: false,
}

/** The webhooks of an event for three endpoints: `1` is canonical, `2` is raw, `3` is both. */
export function messagesByMode(event: RecordedDomainEvent): Outbound[] {
  return messagesTo(event, endpointSettings(1, 'canonical'), endpointSettings(2, 'raw'), endpointSettings(3, 'both'))
}

/** The webhooks of a notification about a foreign object. */
export function unmatchedMessagesByMode(data: Partial<DataOf<'ProviderEventUnmatched'>>): Outbound[] {
  const subject = { object_id: 'obj_1', amount_cents: 500, currency: 'eur', status: null }
  return messagesByMode(unmatched({ ...subscriptionNotification, ...subject, ...data }))
}
