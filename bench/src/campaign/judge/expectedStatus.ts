// What a payment must be by the provider's books.
import type { Intent, Payment } from './observations.ts'

/** @param intent `undefined` for a sandbox payment that nobody paid */
export function expectedStatus(intent: Intent | undefined): string {
  if (intent === undefined) return 'pending'
  if (intent.status !== 'open') return intent.status
  return intent.failures > 0 ? 'failed' : 'pending'
}

/**
 * The intent that decides about a payment: the recorded one, or one that can be paid.
 * @param intents of this payment
 */
export function decidingIntent(payment: Payment, intents: readonly Intent[]): Intent | undefined {
  const recorded = intents.find(({ id }) => id === payment.provider_intent_id)
  return recorded ?? intents.find(({ status }) => status !== 'canceled') ?? intents[0]
}
