// What all statements of a provider about one payment have in common, whatever they say.
import { isInChain } from '../chain.ts'
import type { PaymentEvent } from './events.ts'
import { factsOf, type Payment } from './payment.ts'

/** What every statement of a provider about one payment says, in our words. */
export type StatementSource = {
  /** The provider's own time of the statement, ISO 8601; it orders statements that arrive out of order. */
  readonly provider_time: string
  /** `null` when the statement is the answer to a question of ours. */
  readonly provider_event_id: string | null
  readonly provider_intent_id: string | null
  /** The charge, capture or transaction that the statement is about; of a failure the one that failed, if there is one. */
  readonly provider_payment_id: string | null
}

/** A statement as its receiver hands it on. */
export type HeardStatement = StatementSource & {
  readonly occurred_at: string
  /** True when our own records say that the intent is this payment's, and not only the statement itself. */
  readonly vouched?: boolean | undefined
}

/** Whether this very notification was taken into account before. */
export function isSeen({ provider_event_id }: StatementSource, payment: Payment): boolean {
  return provider_event_id !== null && isInChain(provider_event_id, payment.seen_provider_events)
}

/**
 * Whether the statement is about another intent than the payment's. While the payment does not know its intent, a
 * statement that merely names the payment counts only as long as a create call may have made that intent.
 */
export function isForeignIntent({ provider_intent_id, vouched }: HeardStatement, payment: Payment): boolean {
  if (provider_intent_id === null) return false
  if (payment.provider_intent_id !== null) return payment.provider_intent_id !== provider_intent_id
  return !vouched && payment.intent_outcome.kind === 'refused'
}

/** What every event says that a statement leads to. */
export function statedFacts(statement: HeardStatement, payment: Payment) {
  const { provider_time, provider_event_id, provider_payment_id } = statement
  return { ...factsOf(payment, statement.occurred_at), provider_time, provider_event_id, provider_payment_id }
}

/** A statement that changes nothing, on record. */
export type Ignored = Extract<PaymentEvent, { type: 'ProviderEventIgnored' }>

/** Puts a statement on record that changes nothing. */
export function ignored(
  statement: HeardStatement,
  payment: Payment,
  why: Pick<Ignored['data'], 'reported_status' | 'reason'>,
): Ignored {
  const { reported_status, reason } = why
  return { type: 'ProviderEventIgnored', data: { ...statedFacts(statement, payment), reported_status, reason } }
}
