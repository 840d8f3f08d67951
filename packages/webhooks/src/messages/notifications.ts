// Provider notifications as messages for raw endpoints, the legacy list and chat services.
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { WebhookTestFacts } from '@paylog/domain/webhookTest'
import type { EventOf } from './canonical.ts'
import { byProviderTime, type ForeignFacts, invoiceId, providerCustomer } from './foreignMessages.ts'
import { type NamedFacts, type WebhookFacts, webhookFacts } from './webhookFacts.ts'

export type Notification = {
  /** The provider's name of the type. */
  readonly provider_type: string
  /** The name in interface section 6.1, if any. */
  readonly generic_type: string | null
  /** The status is the provider's. */
  readonly facts: WebhookFacts
  /** The provider's text; `null` if it was already sent when it was received. */
  readonly body: string | null
}

/** A notification as it came: only its text is known. */
export function receivedNotification(
  data: EventOf<'ProviderEventReceived' | 'ProviderNotificationReceived'>['data'],
): Notification {
  const { provider_type, generic_type, body } = data
  return { provider_type, generic_type, facts: bareFacts(data), body }
}

/** Only the provider and its time. */
function bareFacts({
  provider_id,
  provider_time: occurred_at,
}: Pick<EventOf<'ProviderEventReceived'>['data'], 'provider_id' | 'provider_time'>): WebhookFacts {
  return webhookFacts({ provider_id, occurred_at, amount_cents: null, currency: null })
}

/** @returns undefined for an event that does not settle a notification: only then we know which payment it is about */
export function settledNotification(event: RecordedDomainEvent): Notification | undefined {
  switch (event.type) {
    case 'ProviderNotificationReceived':
      return settled(event.data, ofOurPayment(notificationOf(event.data)))
    case 'ProviderEventApplied':
      return settled(event.data, ofOurPayment(byProviderTime(event.data)))
    case 'ProviderEventAppliedToMethod':
      // Contains nothing about the owner of the method.
      return settled(event.data, bareFacts(event.data))
    case 'ProviderEventUnmatched':
      return settled(event.data, foreignFacts(byProviderTime(event.data), { user: providerCustomer(event.data) }))
    case 'WebhookTestRequested':
      // A test is about the user who requested it.
      return testNotification(event.data, event.data.requested_by)
    case 'WebhookSimulationRequested':
      return testNotification(event.data, providerCustomer(event.data))
    default:
      return undefined
  }
}

/** A real notification, whose text was sent when it was received. */
function settled(
  { provider_type, generic_type }: Pick<Notification, 'provider_type' | 'generic_type'>,
  facts: WebhookFacts,
): Notification {
  return { provider_type, generic_type, facts, body: null }
}

/** A notification in its payment's stream, with the names that other notifications have for its fields. */
function notificationOf(data: EventOf<'ProviderNotificationReceived'>['data']) {
  const { reported_amount_cents: amount_cents, ...rest } = byProviderTime(data)
  const { reported_currency: currency, reported_status: status } = rest
  return { ...rest, amount_cents, currency, status }
}

function ofOurPayment(data: EventOf<'ProviderEventApplied'>['data']): WebhookFacts {
  const { payer: user, payment_id, status, is_foreign_intent } = data
  // The intent only contains our payment's id, so it must not be reported as that payment.
  if (is_foreign_intent) return foreignFacts({ ...data, subscription: null })
  return webhookFacts(data, { payment_id, status, user, owner: user.id })
}

/** @returns undefined when a canonical message was requested instead of a notification */
function testNotification(data: WebhookTestFacts, user: WebhookFacts['user']): Notification | undefined {
  const { provider_type, generic_type, requested_by, body } = data
  if (data.canonical_name !== null || provider_type === null) return undefined
  return {
    provider_type,
    generic_type,
    body,
    facts: foreignFacts(data, { user, owner: requested_by.id, is_test: true }),
  }
}

/** Facts with the provider's id of the payment, if the notification is about one. */
function foreignFacts(
  data: Omit<ForeignFacts, 'customer_id' | 'customer_email'>,
  known: Partial<WebhookFacts> = {},
): WebhookFacts {
  const [family] = (data.generic_type ?? '').split('.')
  const ofInvoice = family === 'invoice' ? invoiceId(data) : null
  const payment_id = family === 'payment_intent' ? data.object_id : ofInvoice
  return webhookFacts(data, { payment_id, status: data.status, ...known })
}

/** The event name of a raw message: `<provider>:<native type>`. */
export function rawName({ provider_type, facts }: Notification): string {
  return `${facts.provider}:${provider_type}`
}

/**
 * The raw payload, with the provider's text unchanged: parsing and serialising it again would turn `0.0` into `0` and round
 * large numbers. We only replace unpaired surrogates, which cannot be encoded, and drop a byte order mark.
 */
export function rawBody({ event, provider, timestamp, is_test }: NamedFacts, body: string): string {
  const text = body.replace(/^\ufeff/, '')
  const head = JSON.stringify({ event, provider, timestamp })
  const data = isJson(text) ? text.toWellFormed() : JSON.stringify(text)
  return `${head.slice(0, -1)},"data":${data}${is_test ? ',"test":true' : ''}}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The families of generic names that interface §6.2 defines for the legacy list. */
const families: ReadonlySet<string> = new Set([
  'payment_intent',
  'payment_method',
  'subscription',
  'invoice',
  'customer',
])

/** The status of a payment is ours instead of the provider's. */
const paymentStatuses: ReadonlyMap<string, string> = new Map([
  ['payment_intent.created', 'pending'],
  ['payment_intent.requires_action', 'pending'],
  ['payment_intent.processing', 'processing'],
  ['payment_intent.succeeded', 'succeeded'],
  ['payment_intent.failed', 'failed'],
  ['payment_intent.canceled', 'canceled'],
])

/** Whether a name or pattern belongs to a family of the legacy list. */
export function isLegacyFamily(name: string): boolean {
  const [family = ''] = name.split('.')
  return families.has(family)
}

/** @returns the facts for the legacy list under the generic name; undefined if the list does not have it */
export function legacyFacts({ generic_type: event, facts }: Notification): NamedFacts | undefined {
  if (event === null || !isLegacyFamily(event)) return undefined
  return { ...facts, event, status: paymentStatuses.get(event) ?? facts.status }
}

/** The payload of interface §6.2. Serialised once, like the canonical one. */
export function legacyBody(facts: NamedFacts): string {
  const { event, provider, timestamp, payment_id, amount, currency, user, status, is_test } = facts
  const data = { payment_id, amount, currency, customer_email: user.email, status }
  return JSON.stringify({ event, provider, timestamp, data, test: is_test ? true : undefined })
}
