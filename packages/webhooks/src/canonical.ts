// Maps recorded events to canonical messages and their bodies.
import type { recordedEvents } from '@paylog/domain/recordedEvents'
import type { Static } from 'typebox'
import type { CanonicalMessage, CanonicalName } from './canonicalNames.ts'
import type { ChatNotice } from './chat/chatMessage.ts'
import { simulationMessages, testMessages, unmatchedMessages } from './unmatched.ts'

type Schemas = typeof recordedEvents
export type RecordedType = keyof Schemas & string
/** The event of one type. The mapped type lets us look up the table below without a cast. */
export type EventOf<Type extends RecordedType> = {
  [Name in Type]: { readonly type: Name; readonly data: Static<Schemas[Name]> }
}[Type]

type Rule<Type extends RecordedType> = (event: EventOf<Type>) => readonly CanonicalMessage[]

/** The fields of every event of our payments. */
type PaymentFacts = EventOf<'PaymentSucceeded' | 'PaymentCanceled' | 'PaymentAttemptFailed' | 'ProviderIntentCreated'>

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
  // There is no canonical name for a cancellation, and without a message receivers would wait for the payment's end.
  PaymentCanceled: (event) => [payment(event, 'payment.failed', 'canceled')],
  ProviderEventUnmatched: ({ data }) => unmatchedMessages(data),
  WebhookTestRequested: ({ data }) => testMessages(data),
  WebhookSimulationRequested: ({ data }) => simulationMessages(data),
}

/** The canonical messages of a recorded event: often none, sometimes two. */
export function canonicalMessages<Type extends RecordedType>(event: EventOf<Type>): readonly CanonicalMessage[] {
  const rule: Rule<Type> | undefined = rules[event.type]
  return rule?.(event) ?? []
}

function payment({ data }: PaymentFacts, name: CanonicalName, status: string): CanonicalMessage {
  return {
    name,
    provider: data.provider_id,
    timestamp: data.occurred_at,
    payment_id: data.payment_id,
    amount: data.amount_cents,
    currency: data.currency,
    status,
    user: data.payer,
    project_id: data.project_id,
    owner: data.payer.id,
  }
}

/** The allowed values of `data.project.id`. */
export type Projects = {
  /** The default, for payments that name no allowed project. */
  readonly projectId: string
  /** The projects that a payer without a session may name. */
  readonly projectIds: readonly string[]
}

/** The payload of interface §6.2. Serialised once: the stored text is the text that is signed and sent. */
export function canonicalBody(message: CanonicalMessage, { projectId, projectIds }: Projects): string {
  const { name, provider, timestamp, payment_id, amount, currency, status, user, project_id } = message
  const { subscription_id, customer_id, current_period_end } = message
  // Anyone can create a payment without a session and set its metadata, so such payers must not choose the tenant.
  const mayName = project_id !== null && (user.id !== null || projectIds.includes(project_id))
  return JSON.stringify({
    event: name,
    provider,
    timestamp,
    data: {
      payment_id,
      amount,
      currency: currency?.toUpperCase() ?? null,
      status,
      user: { id: user.id, type: user.type, email: user.email },
      project: { id: mayName ? project_id : projectId },
      subscription_id,
      customer_id,
      current_period_end,
    },
    test: message.is_test,
  })
}

/** The chat notice of a canonical message. */
export function canonicalChatNotice(message: CanonicalMessage): ChatNotice {
  const { name, provider, timestamp, payment_id, amount, currency, status, user } = message
  return {
    event: name,
    provider,
    timestamp,
    amount_cents: amount,
    currency: currency?.toUpperCase() ?? null,
    customer: user.email ?? user.id,
    status,
    payment_id,
    is_test: message.is_test === true,
  }
}
