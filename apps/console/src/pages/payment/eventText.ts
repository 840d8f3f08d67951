// Events of a payment in words.
import { formatMoney } from '../../format/money.ts'

const titles: Readonly<Record<string, string>> = {
  PaymentInitiated: 'Payment started',
  ProviderIntentCreated: 'Created at the provider',
  PaymentAttemptStarted: 'Another attempt started',
  ProviderNotificationReceived: 'Notification received',
  PaymentActionRequired: 'Payer has to act',
  PaymentProcessingStarted: 'Processing',
  PaymentSucceeded: 'Succeeded',
  PaymentAttemptFailed: 'Attempt failed',
  PaymentCanceled: 'Canceled',
  PaymentAmountMismatch: 'Amount differs from the provider’s',
  PaymentConflictDetected: 'Conflict with the provider',
  ProviderEventIgnored: 'Report of the provider ignored',
  PaymentCancelRequested: 'Cancellation requested',
  PaymentCaptureRequested: 'Capture requested',
  RefundRequested: 'Refund requested',
  ProviderCallFailed: 'Provider call failed',
  RefundRecorded: 'Refund reported',
  PaymentDisputeRecorded: 'Dispute reported',
}

/** A type without a title in its own words: SomethingHappened becomes Something happened. */
export function titleOf(type: string): string {
  const words = type.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
  return titles[type] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** The fields that tell most, in this order, each with its name; amounts are in the payment's currency. */
const amounts: readonly (readonly [field: string, name: string])[] = [
  ['refund_cents', ''],
  ['capture_cents', ''],
  ['received_cents', 'received'],
  ['capturable_cents', 'authorized'],
  ['disputed_cents', ''],
  ['reported_amount_cents', 'reported'],
]
const texts: readonly (readonly [field: string, name: string])[] = [
  ['call', ''],
  ['outcome', 'outcome'],
  ['provider_type', ''],
  ['reported_status', 'reported status'],
  ['provider_status', ''],
  ['status', ''],
  ['reason', 'reason'],
  ['note', 'note'],
  ['failure_code', 'code'],
  ['failure_message', ''],
  ['attention', 'attention'],
]

/** The words of a list of reasons; other texts stay as they were written. */
const wordsOf = (field: string, value: string) => (field === 'reason' ? value.replaceAll('_', ' ') : value)

const named = (name: string, value: string) => (name === '' ? value : `${name} ${value}`)

/** What an event says beyond its type, in one line; empty when there is nothing. */
export function summaryOf(type: string, data: Readonly<Record<string, unknown>>): string {
  const currency = typeof data.reported_currency === 'string' ? data.reported_currency : data.currency
  const money = (cents: number) => (typeof currency === 'string' ? formatMoney(cents, currency) : String(cents))
  if (type === 'PaymentInitiated' && typeof data.total_cents === 'number') return money(data.total_cents)
  const parts = [
    ...amounts.map(([field, name]) =>
      typeof data[field] === 'number' && data[field] > 0 ? named(name, money(data[field])) : '',
    ),
    ...texts.map(([field, name]) => (typeof data[field] === 'string' ? named(name, wordsOf(field, data[field])) : '')),
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** Who caused an event. */
export function actorText(actor: string): string {
  const [kind, id] = actor.split(/:(.*)/s)
  if (kind === 'session' && id) return `user ${id}`
  if (kind === 'provider' && id) return `provider ${id}`
  if (actor === 'operator') return 'an operator'
  if (actor === 'guest') return 'a guest'
  if (actor === 'anonymous') return 'somebody without a session'
  return actor === 'worker' ? 'the worker' : actor
}
