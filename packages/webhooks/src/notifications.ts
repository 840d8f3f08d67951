// Settled provider notifications as messages for the legacy list and for chat services.
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import type { WebhookTestFacts } from '@paylog/domain/webhookTest'
import type { EventOf } from './canonical.ts'
import type { ChatNotice } from './chat/chatMessage.ts'
import { invoiceId, type Unmatched } from './unmatched.ts'

/** A settled notification: we now know which payment it is about. */
export type AppliedNotification = {
  readonly provider_id: string
  /** The provider's name of the type. */
  readonly provider_type: string
  /** The name in interface section 6.1, if any. */
  readonly generic_type: string | null
  readonly occurred_at: string
  /** Our payment id, or the provider's id of a foreign payment. */
  readonly payment_id: string | null
  readonly amount_cents: number | null
  readonly currency: string | null
  /** The provider's status. */
  readonly status: string | null
  readonly customer_id: string | null
  readonly customer_email: string | null
  /** The user who may see it in the log. */
  readonly owner: string | null
  /** The provider's text; `null` if it was already sent when it was received. */
  readonly body: string | null
  readonly is_test: boolean
}

/** @returns undefined for an event that does not settle a notification */
export function appliedNotification(event: RecordedDomainEvent): AppliedNotification | undefined {
  switch (event.type) {
    case 'ProviderNotificationReceived':
      return applied(notificationOf(event.data))
    case 'ProviderEventApplied':
      return applied(event.data)
    case 'ProviderEventAppliedToMethod':
      return appliedToMethod(event.data)
    case 'ProviderEventUnmatched':
      return { ...event.data, payment_id: externalPaymentId(event.data), owner: null, ...realNotification }
    case 'WebhookTestRequested':
      // A test is about the user who requested it.
      return testNotification(event.data, { id: event.data.requested_by.id, email: event.data.requested_by.email })
    case 'WebhookSimulationRequested':
      return testNotification(event.data, { id: event.data.customer_id, email: event.data.customer_email })
    default:
      return undefined
  }
}

/** A real notification, whose text was sent when it was received. */
const realNotification = { body: null, is_test: false } as const

/** A notification in its payment's stream, with the names that other notifications have for its fields. */
export function notificationOf(data: EventOf<'ProviderNotificationReceived'>['data']) {
  const { provider_time: occurred_at, reported_amount_cents: amount_cents, ...rest } = data
  const { reported_currency: currency, reported_status: status } = rest
  return { ...rest, occurred_at, amount_cents, currency, status }
}

function applied(data: EventOf<'ProviderEventApplied'>['data']): AppliedNotification {
  const { payer, is_foreign_intent } = data
  const unknownOwner = { customer_id: null, customer_email: null, owner: null, ...realNotification }
  // The intent only contains our payment's id, so it must not be reported as that payment.
  if (is_foreign_intent) return { ...data, ...unknownOwner, payment_id: externalPaymentId(data) }
  return { ...data, customer_id: payer.id, customer_email: payer.email, owner: payer.id, ...realNotification }
}

/** Contains nothing about the owner of the method. */
function appliedToMethod(data: EventOf<'ProviderEventAppliedToMethod'>['data']): AppliedNotification {
  const { provider_id, provider_type, generic_type, occurred_at } = data
  const unknown = { payment_id: null, amount_cents: null, currency: null, status: null }
  const unknownOwner = { customer_id: null, customer_email: null, owner: null }
  return { provider_id, provider_type, generic_type, occurred_at, ...unknown, ...unknownOwner, ...realNotification }
}

type Customer = { readonly id: string | null; readonly email: string | null }

/** @returns undefined when a canonical message was requested instead of a notification */
function testNotification(data: WebhookTestFacts, { id, email }: Customer): AppliedNotification | undefined {
  const { provider_type, requested_by } = data
  if (data.canonical_name !== null || provider_type === null) return undefined
  const payment_id = externalPaymentId(data)
  const requested = { customer_id: id, customer_email: email, owner: requested_by.id, is_test: true }
  return { ...data, provider_type, payment_id, ...requested }
}

/** The provider's id of the payment, if the notification is about one. */
function externalPaymentId(data: Pick<Unmatched, 'generic_type' | 'object_id' | 'subscription'>): string | null {
  const [family] = (data.generic_type ?? '').split('.')
  if (family === 'payment_intent') return data.object_id
  return family === 'invoice' ? invoiceId(data) : null
}

/** The chat notice of a notification. @param options name and status, which differ by mode */
export function chatNotice(
  notification: AppliedNotification,
  { event, status }: { readonly event: string; readonly status: string | null },
): ChatNotice {
  const { provider_id, occurred_at, payment_id, amount_cents, currency, customer_id, customer_email, is_test } =
    notification
  return {
    event,
    provider: provider_id,
    timestamp: occurred_at,
    amount_cents,
    currency: currency?.toUpperCase() ?? null,
    customer: customer_email ?? customer_id,
    status,
    payment_id,
    is_test,
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

/** @returns the generic name, or undefined if the legacy list does not have it */
export function legacyName({ generic_type }: AppliedNotification): string | undefined {
  return generic_type !== null && isLegacyFamily(generic_type) ? generic_type : undefined
}

export function legacyStatus(name: string, { status }: AppliedNotification): string | null {
  return paymentStatuses.get(name) ?? status
}

/** The payload of interface §6.2. Serialised once, like the canonical one. */
export function legacyBody(name: string, notification: AppliedNotification): string {
  const { provider_id, occurred_at, payment_id, amount_cents, currency, customer_email, is_test } = notification
  return JSON.stringify({
    event: name,
    provider: provider_id,
    timestamp: occurred_at,
    data: {
      payment_id,
      amount: amount_cents,
      currency: currency?.toUpperCase() ?? null,
      customer_email,
      status: legacyStatus(name, notification),
    },
    test: is_test ? true : undefined,
  })
}
