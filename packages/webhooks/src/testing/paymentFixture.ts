// Sample events of payments and notifications, and payments recorded in a real log.

import { randomUUID } from 'node:crypto'
import { initiatePayment } from '@paylog/commands/payments/initiatePayment'
import type { LogCheckpoint } from '@paylog/domain/events'
import type { NonStatusEvent } from '@paylog/domain/payments/duplicates'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { type InitiatePayment, recordInitiation } from '@paylog/domain/payments/initiate'
import { existingPayment, type Payment, type PaymentState } from '@paylog/domain/payments/payment'
import { type RecordStatus, recordStatus, type StatusReport } from '@paylog/domain/payments/statusReports'
import type { ProviderNotificationEvent } from '@paylog/domain/providerEvents'
import type { Recorded } from '@paylog/event-store/codec/codec'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Provider } from '@paylog/providers/provider'
import { paymentFields } from '@paylog/testing/paymentFields'
import { positionAt } from '@paylog/testing/positionAt'

type FollowedEvent = PaymentEvent | ProviderNotificationEvent

const occurred_at = '2026-01-02T03:04:05.000Z'
const facts = {
  payment_id: '018f0000-0000-7000-8000-000000000001',
  occurred_at,
  provider_id: 'fake',
  amount_cents: 2200,
  currency: 'USD',
  payer: { id: 'user-1', type: 'customer', email: 'ann@example.com' },
  project_id: null,
}
const report = { ...facts, provider_time: occurred_at, provider_event_id: 'evt_1', provider_payment_id: null }
const refund = {
  refund_id: '018f0000-0000-7000-8000-000000000004',
  refund_cents: 700,
  reason: 'requested_by_customer',
  note: null,
} as const
const notificationFacts = {
  provider_id: 'fake',
  provider_event_id: 'evt_1',
  provider_type: 'payment_intent.succeeded',
  generic_type: 'payment_intent.succeeded',
  provider_time: occurred_at,
  occurred_at,
}
const subject = { object_id: 'intent-1', amount_cents: 2200, currency: 'USD', status: 'succeeded' }

type DataOf<Type extends FollowedEvent['type']> = Extract<FollowedEvent, { type: Type }>['data']
type ReconciledType = FollowedEvent['type']
type Samples = { readonly [Type in Exclude<ReconciledType, NonStatusEvent['type']>]: DataOf<Type> } & {
  readonly [Type in NonStatusEvent['type']]?: DataOf<Type>
}

/** Samples of all event types that lead to follow-ups, about one payment or notification of the provider `fake`. */
export const eventSamples: Samples = {
  PaymentInitiated: {
    ...paymentFields,
    ...facts,
    subtotal_cents: 2200,
    tax_cents: 0,
    discount_cents: 0,
    total_cents: 2200,
    is_guest_payment: false,
  },
  ProviderIntentCreated: {
    ...facts,
    provider_intent_id: 'intent-1',
    client_secret: 'secret',
    redirect_url: null,
    attempt: 1,
  },
  PaymentAttemptStarted: { ...facts, attempt: 2 },
  ProviderNotificationReceived: {
    ...facts,
    provider_time: occurred_at,
    provider_event_id: 'event-1',
    provider_type: 'payment.succeeded',
    generic_type: 'payment_intent.succeeded',
    object_id: 'intent-1',
    reported_intent_id: null,
    reported_amount_cents: 2200,
    reported_currency: 'USD',
    reported_status: 'succeeded',
    is_foreign_intent: false,
    body: '{}',
  },
  PaymentActionRequired: report,
  PaymentProcessingStarted: { ...report, capturable_cents: 0 },
  PaymentSucceeded: { ...report, received_cents: 2200 },
  PaymentAttemptFailed: { ...report, failure_code: 'declined', failure_message: 'Declined' },
  PaymentCanceled: { ...report, reason: null },
  PaymentAmountMismatch: { ...report, reported_amount_cents: 1, reported_currency: 'USD', attention: null },
  PaymentConflictDetected: {
    ...report,
    reported_status: 'succeeded',
    reported_amount_cents: 2200,
    reported_currency: 'USD',
    attention: null,
  },
  ProviderEventIgnored: {
    ...report,
    reported_status: 'pending',
    reason: 'stale',
    reported_intent_id: null,
    attention: null,
  },
  PaymentCancelRequested: { ...facts, reason: null, is_expiry: false },
  PaymentCaptureRequested: { ...facts, capture_cents: 2200 },
  RefundRequested: { ...facts, ...refund, provider_payment_id: null, request_fingerprint: null },
  ProviderCallFailed: {
    ...facts,
    call: 'cancel',
    attempt: null,
    refund_id: null,
    outcome: 'unknown',
    error_code: null,
    failure_code: 'timeout',
    failure_message: 'The provider did not respond',
  },
  RefundRecorded: {
    ...report,
    ...refund,
    provider_refund_id: 'refund-1',
    status: 'succeeded',
    was_succeeded: false,
    failure_code: null,
    payment_status: 'succeeded',
    attention: null,
  },
  PaymentDisputeRecorded: {
    ...report,
    dispute_id: '018f0000-0000-7000-8000-000000000005',
    provider_dispute_id: 'dispute-1',
    status: 'open',
    is_new_status: true,
    provider_status: 'needs_response',
    reason: null,
    evidence_due_by: null,
    disputed_cents: 2200,
    payment_status: 'succeeded',
  },
  ProviderEventReceived: { ...notificationFacts, body: '{}' },
  ProviderEventApplied: {
    ...notificationFacts,
    ...subject,
    payment_id: facts.payment_id,
    payer: facts.payer,
    project_id: null,
    is_foreign_intent: false,
  },
  ProviderEventAppliedToMethod: {
    ...notificationFacts,
    object_id: 'method-1',
    payment_method_id: '018f0000-0000-7000-8000-000000000003',
  },
  ProviderEventUnmatched: {
    ...notificationFacts,
    ...subject,
    customer_id: null,
    customer_email: null,
    subscription: null,
  },
}

let position = 0n

/**
 * An event as read from the log.
 * @param options `at` by Paylog's clock; without `position` it is at the end of the log
 */
export function recordedEvent<Type extends FollowedEvent['type']>(
  type: Type,
  options: {
    readonly stream?: string
    readonly at?: Date
    readonly data?: Partial<DataOf<Type>>
    readonly position?: LogCheckpoint
  } = {},
): Recorded {
  position++
  const at = options.at?.toISOString() ?? occurred_at
  const sample = eventSamples[type]
  if (sample === undefined) throw new Error(`No sample of ${type}`)
  // The data matches the type, but the compiler cannot see it.
  const event = { type, data: { ...sample, occurred_at: at, ...options.data } } as FollowedEvent
  return {
    ...event,
    id: randomUUID(),
    stream: options.stream ?? `payment-${facts.payment_id}`,
    revision: position,
    position: options.position ?? positionAt(position),
    created: new Date(at),
    metadata: { correlationId: 'request-1', causationId: 'request-1', actor: 'anonymous', schema: 1 },
    sealed: {},
  }
}

/** A batch of successes of new payments, at consecutive positions. */
export function batchOf(count: number, firstCommit = 1n) {
  const events = Array.from({ length: count }, (_, index) => {
    const payment_id = randomUUID()
    const place = { stream: `payment-${payment_id}`, position: positionAt(firstCommit + BigInt(index)) }
    return { ...recordedEvent('PaymentSucceeded', { ...place, data: { payment_id } }), revision: 2n }
  })
  return { events, position: positionAt(firstCommit + BigInt(count) - 1n) }
}

/** A notification, which raw endpoints receive. */
export function notificationReceived(commit: bigint, body: string): Recorded {
  const provider_event_id = `evt_${commit}`
  const place = { stream: `providerEvent-fake:${provider_event_id}`, position: positionAt(commit, commit - 1n) }
  return { ...recordedEvent('ProviderEventReceived', { ...place, data: { provider_event_id, body } }), revision: 0n }
}

const metadata = { correlationId: 'request-1', causationId: 'request-1', actor: 'anonymous' }
const request_fingerprint = 'fingerprint'

/** Fields of a payment besides its id and provider. */
export type PaymentOptions = Partial<Pick<InitiatePayment, 'payment_method_id' | 'provider_method' | 'expires_at'>>

export function recordPayments(store: EventStore, now: () => Date) {
  const initiateCommand = (payment_id: string, provider_id: string, order: PaymentOptions) => ({
    ...eventSamples.PaymentInitiated,
    ...order,
    payment_id,
    provider_id,
    request_fingerprint,
    occurred_at: now().toISOString(),
  })
  const decide = (id: string, decision: (state: PaymentState) => PaymentEvent[], actor = 'anonymous') =>
    store.handle({
      stream: paymentStream(id),
      fold: paymentFold,
      decide: decision,
      metadata: { ...metadata, actor },
    })
  const payment = async (id: string): Promise<Payment> =>
    existingPayment((await store.load(paymentStream(id), paymentFold)).state)

  return {
    payment,
    intentOf: async (id: string) => (await payment(id)).provider_intent_id ?? '',
    eventsOf: async (id: string) => (await store.readStream(paymentStream(id))).map(({ type }) => type),

    /** Records the payment of a request that died before it called the provider. */
    async initiate(provider: Pick<Provider, 'id'>, order: PaymentOptions = {}): Promise<string> {
      const id = randomUUID()
      await decide(id, (state) => recordInitiation(initiateCommand(id, provider.id, order), state))
      return id
    },

    /** Records the payment of a request that completed. */
    async open(provider: Provider, order: PaymentOptions = {}): Promise<string> {
      const payment_id = randomUUID()
      const workflow = { store, providers: new Map([[provider.id, provider]]), now }
      await initiatePayment(workflow, initiateCommand(payment_id, provider.id, order), { metadata })
      return payment_id
    },

    /** Records a provider's notification about the payment. */
    async notify(id: string, report: Pick<StatusReport, 'status'> & Partial<StatusReport>): Promise<void> {
      const time = now().toISOString()
      const command: RecordStatus = {
        occurred_at: time,
        provider_time: time,
        provider_event_id: randomUUID(),
        provider_intent_id: null,
        provider_payment_id: null,
        amount_cents: 2200,
        currency: 'USD',
        source: 'queryable_notification',
        ...report,
      }
      await decide(id, (state) => recordStatus(command, state), 'provider')
    },
  }
}
