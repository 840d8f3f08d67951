import type { recordedEvents } from '@paylog/domain/recordedEvents'
import type { Static } from 'typebox'
import type { CanonicalMessage, CanonicalName } from './canonicalNames.ts'
import type { ChatNotice } from './chat/chatMessage.ts'
import { simulationMessages, testMessages, unmatchedMessages } from './unmatched.ts'

type Schemas = typeof recordedEvents
export type RecordedType = keyof Schemas & string
/** The event of one type; written over a type parameter so that the table below is looked up without a cast. */
export type EventOf<Type extends RecordedType> = {
  [Name in Type]: { readonly type: Name; readonly data: Static<Schemas[Name]> }
}[Type]

type Rule<Type extends RecordedType> = (event: EventOf<Type>) => readonly CanonicalMessage[]

/** The facts that every event of a payment of ours repeats. */
type PaymentFacts = EventOf<'PaymentSucceeded' | 'PaymentCanceled' | 'PaymentAttemptFailed' | 'ProviderIntentCreated'>

/**
 * The canonical table of the design. Whatever can stand in the log and is not here is told to nobody outside: it is
 * internal, or another event tells the same. Methods and addresses are nobody's business but their owner's, the catalogue
 * is the administrators'; what a provider has sent goes to raw nodes, and to canonical ones once it is known whether it is
 * about a payment of ours.
 */
const rules: { readonly [Type in RecordedType]?: Rule<Type> } = {
  // The decider records it once per payment, so this is the first.
  ProviderIntentCreated: (event) => [payment(event, 'payment.created', 'pending')],
  PaymentSucceeded: (event) => [payment(event, 'payment.succeeded', 'succeeded')],
  PaymentAttemptFailed: (event) => [payment(event, 'payment.failed', 'failed')],
  // There is no canonical name for it, and silence would leave receivers waiting.
  PaymentCanceled: (event) => [payment(event, 'payment.failed', 'canceled')],
  ProviderEventUnmatched: ({ data }) => unmatchedMessages(data),
  WebhookTestRequested: ({ data }) => testMessages(data),
  WebhookSimulationRequested: ({ data }) => simulationMessages(data),
}

/** What a recorded event means in canonical messages; often nothing, sometimes two. */
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

/** What `data.project.id` can be. */
export type Projects = {
  /** Of every message whose payment names no other that counts. */
  readonly projectId: string
  /** Those that a payer without a session may name. */
  readonly projectIds: readonly string[]
}

/** The payload of interface §6.2. Serialised once: the text that is stored is the text that is signed and sent. */
export function canonicalBody(message: CanonicalMessage, { projectId, projectIds }: Projects): string {
  const { name, provider, timestamp, payment_id, amount, currency, status, user, project_id } = message
  const { subscription_id, customer_id, current_period_end } = message
  // Payers without a session are unknown and may write anything into the metadata, so they do not choose the tenant.
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

/** What a person in a chat is told. */
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
