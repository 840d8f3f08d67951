// Events of payments and notifications as the log would hand them out.
import { randomUUID } from 'node:crypto'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import type { NonStatusEvent } from '@paylog/domain/payments/notices'
import type { ProviderNotificationEvent } from '@paylog/domain/provider-events/events'
import type { Recorded } from '@paylog/event-store/codec/codec'
import { paymentFixture } from '@paylog/testing/plainOrder'

type FollowedEvent = PaymentEvent | ProviderNotificationEvent

const occurred_at = '2026-01-02T03:04:05.000Z'
const facts = {
  payment_id: '018f0000-0000-7000-8000-000000000001',
  occurred_at,
  provider_id: 'tills',
  amount_cents: 2200,
  currency: 'USD',
  payer: { id: 'user-1', type: 'customer', email: 'ann@example.com' },
  project_id: null,
}
const evidence = { ...facts, provider_time: occurred_at, provider_event_id: 'evt_1', provider_payment_id: null }
const notificationFacts = {
  provider_id: 'tills',
  provider_event_id: 'evt_1',
  provider_type: 'payment_intent.succeeded',
  generic_type: 'payment_intent.succeeded',
  occurred_at,
}
const subject = { object_id: 'intent-1', amount_cents: 2200, currency: 'USD', status: 'succeeded' }

type DataOf<Type extends FollowedEvent['type']> = Extract<FollowedEvent, { type: Type }>['data']
type ReconciledType = FollowedEvent['type']
type Samples = { readonly [Type in Exclude<ReconciledType, NonStatusEvent['type']>]: DataOf<Type> } & {
  readonly [Type in NonStatusEvent['type']]?: DataOf<Type>
}

/** One of every type of event but for some that are only noted, about one payment or notification of the provider `tills`. */
export const eventSamples: Samples = {
  PaymentInitiated: {
    ...paymentFixture,
    ...facts,
    subtotal_cents: 2200,
    tax_cents: 0,
    discount_cents: 0,
    total_cents: 2200,
    is_guest_payment: false,
  },
  ProviderIntentCreated: { ...facts, provider_intent_id: 'intent-1', client_secret: 'secret', attempt: 1 },
  ProviderOutcomeUnknown: { ...facts, attempt: 1, reason: 'timeout' },
  ProviderCallThrottled: { ...facts, attempt: 1, reason: 'rate_limit' },
  PaymentAttemptStarted: { ...facts, attempt: 2 },
  PaymentActionRequired: evidence,
  PaymentProcessingStarted: evidence,
  PaymentSucceeded: evidence,
  PaymentAttemptFailed: { ...evidence, failure_code: 'declined', failure_message: 'Declined', refusal: null },
  PaymentCanceled: { ...evidence, reason: null },
  PaymentAmountMismatch: { ...evidence, reported_amount_cents: 1, reported_currency: 'USD' },
  PaymentConflictDetected: { ...evidence, reported_status: 'succeeded' },
  ProviderEventIgnored: { ...evidence, reported_status: 'pending', reason: 'stale' },
  PaymentRefundRecorded: { ...evidence, refund_id: 'refund-1', refunded_cents: 2200 },
  PaymentDisputeRecorded: { ...evidence, dispute_id: 'dispute-1', dispute_status: 'open', disputed_cents: 2200 },
  ProviderEventReceived: { ...notificationFacts, received_at: occurred_at, body: '{}' },
  ProviderEventApplied: {
    ...notificationFacts,
    ...subject,
    payment_id: facts.payment_id,
    payer: facts.payer,
    project_id: null,
  },
  ProviderEventAppliedToMethod: {
    ...notificationFacts,
    object_id: 'method-1',
    payment_method_id: '018f0000-0000-7000-8000-000000000003',
  },
  ProviderEventUnmatched: { ...notificationFacts, ...subject, customer_id: null, customer_email: null },
}

let position = 0n

/** An event as it stands in the log, behind every one that was made before. @param options `at` by our own clock */
export function recordedEvent<Type extends FollowedEvent['type']>(
  type: Type,
  options: { readonly stream?: string; readonly at?: Date; readonly data?: Partial<DataOf<Type>> } = {},
): Recorded {
  position++
  const at = options.at?.toISOString() ?? occurred_at
  const sample = eventSamples[type]
  if (sample === undefined) throw new Error(`There is no sample of ${type}`)
  const ourTime = 'received_at' in sample ? 'received_at' : 'occurred_at'
  // The type's own data was just put beside it; the compiler cannot connect the two.
  const event = { type, data: { ...sample, [ourTime]: at, ...options.data } } as FollowedEvent
  return {
    ...event,
    id: randomUUID(),
    stream: options.stream ?? `payment-${facts.payment_id}`,
    revision: position,
    position: { commit: position, prepare: position },
    created: new Date(at),
    metadata: { correlationId: 'request-1', causationId: 'request-1', actor: 'anonymous', schema: 1 },
  }
}
