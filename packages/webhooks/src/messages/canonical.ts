// Maps recorded events to canonical messages and their bodies.
import { attentionMessage } from '@paylog/domain/payments/attention'
import type { PaymentFacts } from '@paylog/domain/payments/events'
import { isCreateRejected } from '@paylog/domain/payments/providerCall'
import type { recordedEvents } from '@paylog/domain/recordedEvents'
import type { Static } from 'typebox'
import type { CanonicalName } from './canonicalNames.ts'
import { byProviderTime, foreignMessages } from './foreignMessages.ts'
import { simulationMessages, testMessages } from './testMessages.ts'
import { type CanonicalMessage, type NamedFacts, type WebhookFacts, webhookFacts } from './webhookFacts.ts'

type Schemas = typeof recordedEvents
export type RecordedType = keyof Schemas & string
/** The event of one type. The mapped type lets us look up the table below without a cast. */
export type EventOf<Type extends RecordedType> = {
  [Name in Type]: { readonly type: Name; readonly data: Static<Schemas[Name]> }
}[Type]

type Rule<Type extends RecordedType> = (event: EventOf<Type>) => readonly CanonicalMessage[]

type AttentionEvent = EventOf<
  | 'PaymentAmountMismatch'
  | 'PaymentConflictDetected'
  | 'ProviderEventIgnored'
  | 'RefundRecorded'
  | 'PaymentDisputeRecorded'
>

/**
 * The event types with canonical messages. All others are internal, duplicate another event, or concern only owners
 * (methods, addresses) or administrators (products). A provider notification goes to raw endpoints first, and leads to
 * canonical messages once we know whether it is about one of our payments.
 */
const rules: { readonly [Type in RecordedType]?: Rule<Type> } = {
  // Recorded once per payment.
  ProviderIntentCreated: (event) => [payment(event, 'payment.created', 'pending')],
  PaymentSucceeded: (event) => [payment(event, 'payment.succeeded', 'succeeded')],
  PaymentAttemptFailed: (event) => [payment(event, 'payment.failed', 'failed')],
  // After `provider_unavailable` the payer can try again: the provider was not called, or the call had no effect.
  ProviderCallFailed: (event) =>
    isCreateRejected(event.data) && event.data.error_code !== 'provider_unavailable'
      ? [payment(event, 'payment.failed', 'failed')]
      : [],
  // There is no canonical name for a cancellation, and without a message receivers would wait for the payment's end.
  PaymentCanceled: (event) => [payment(event, 'payment.failed', 'canceled')],
  RefundRecorded: (event) => [...refunded(event), ...attentionMessages(event, event.data.payment_status)],
  PaymentDisputeRecorded: (event) => [...disputed(event), ...attentionMessages(event, event.data.payment_status)],
  PaymentAmountMismatch: (event) => attentionMessages(event, null),
  // Of another payment than a canceled one, a conflict is a second charge.
  PaymentConflictDetected: (event) =>
    attentionMessages(event, event.data.attention === 'money_after_cancellation' ? 'canceled' : 'succeeded'),
  ProviderEventIgnored: (event) => attentionMessages(event, null),
  ProviderEventUnmatched: ({ data }) => foreignMessages(byProviderTime(data)),
  WebhookTestRequested: ({ data }) => testMessages(data),
  WebhookSimulationRequested: ({ data }) => simulationMessages(data),
}

/** The canonical messages of a recorded event: often none, sometimes two. */
export function canonicalMessages<Type extends RecordedType>(event: EventOf<Type>): readonly CanonicalMessage[] {
  const rule: Rule<Type> | undefined = rules[event.type]
  return rule?.(event) ?? []
}

function payment(
  { data }: { readonly data: PaymentFacts },
  event: CanonicalName,
  status: string | null,
  more: Partial<WebhookFacts> = {},
): CanonicalMessage {
  const { payment_id, payer: user, project_id } = data
  return { event, ...webhookFacts(data, { payment_id, status, user, project_id, owner: user.id, ...more }) }
}

/** Once when the refund succeeds, and once more when it fails after that. */
function refunded(event: EventOf<'RefundRecorded'>): readonly CanonicalMessage[] {
  const { refund_id: id, refund_cents: amount, status, was_succeeded, reason } = event.data
  const refund = { id, amount, status, reason, ...reportedIn(event) }
  const isTold = was_succeeded ? status === 'failed' : status === 'succeeded'
  if (!isTold) return []
  return [payment(event, 'payment.refunded', event.data.payment_status, { refund })]
}

/** When the dispute is opened or closed. Only administrators see it in the log: the payer must not learn our deadline. */
function disputed(event: EventOf<'PaymentDisputeRecorded'>): readonly CanonicalMessage[] {
  const { dispute_id: id, disputed_cents: amount, status, is_new_status, reason, evidence_due_by } = event.data
  if (!is_new_status) return []
  const dispute = { id, amount, status, reason, evidence_due_by, ...reportedIn(event) }
  return [payment(event, 'payment.disputed', event.data.payment_status, { dispute, owner: null })]
}

/** What the provider reported in another currency; the amount is then null. */
function reportedIn({ data }: EventOf<'RefundRecorded' | 'PaymentDisputeRecorded'>) {
  const { reported_amount_cents = null, reported_currency } = data
  return reported_currency ? { reported_amount_cents, reported_currency } : {}
}

/** Only for administrators, in the log too. @param status the payment's; `null` when the event does not show it */
function attentionMessages(event: AttentionEvent, status: string | null): readonly CanonicalMessage[] {
  const { attention: code } = event.data
  if (!code) return []
  const attention = { code, message: attentionMessage(code) }
  return [payment(event, 'payment.attention', status, { attention, owner: null })]
}

/** The allowed values of `data.project.id`. */
export type Projects = {
  /** The default, for payments that name no allowed project. */
  readonly projectId: string
  /** The projects that a payer without a session may name. */
  readonly projectIds: readonly string[]
}

/** The payload of interface §6.2. Serialised once: the stored text is the text that is signed and sent. */
export function canonicalBody(message: NamedFacts, { projectId, projectIds }: Projects): string {
  const { event, provider, timestamp, payment_id, amount, currency, status, user, project_id } = message
  const { subscription_id, customer_id, current_period_end, refund, dispute, attention } = message
  // Anyone can create a payment without a session and set its metadata, so such payers must not choose the tenant.
  const mayName = project_id !== null && (user.id !== null || projectIds.includes(project_id))
  return JSON.stringify({
    event,
    provider,
    timestamp,
    data: {
      payment_id,
      amount,
      currency,
      status,
      user: { id: user.id, type: user.type, email: user.email },
      project: { id: mayName ? project_id : projectId },
      subscription_id,
      customer_id,
      current_period_end,
      refund,
      dispute,
      attention,
    },
    test: message.is_test ? true : undefined,
  })
}
