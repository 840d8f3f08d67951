// Canonical messages of notifications about foreign objects, by the generic names of interface §6.1. A foreign object is one that
// we did not make: a payment, subscription or customer of the provider account that no stream of ours has.
import type { providerNotificationEvents } from '@paylog/domain/providerEvents'
import type { Static } from 'typebox'
import type { CanonicalName } from './canonicalNames.ts'
import { type CanonicalMessage, type WebhookFacts, webhookFacts } from './webhookFacts.ts'

/** The fields of a notification about a foreign object. */
export type ForeignFacts = Omit<
  Static<(typeof providerNotificationEvents)['ProviderEventUnmatched']>,
  'provider_event_id' | 'provider_type' | 'provider_time'
>
/** Webhooks about a notification have the provider's time. */
export function byProviderTime<Data extends { readonly provider_time: string }>(data: Data) {
  return { ...data, occurred_at: data.provider_time }
}

type Translation = (data: ForeignFacts) => readonly CanonicalMessage[]

/** The providers' statuses of a subscription that is paid or on trial. */
const activeStatuses: ReadonlySet<string> = new Set(['active', 'trialing'])
/** Statuses of a subscription that has stopped but may continue. Not past due: the failed invoice reports that. */
const waitingStatuses: ReadonlySet<string> = new Set(['paused', 'suspended', 'unpaid', 'incomplete'])

const rules: Readonly<Record<string, Translation>> = {
  'payment_intent.created': (data) => [payment(data, 'payment.created', 'pending')],
  'payment_intent.succeeded': (data) => [payment(data, 'payment.succeeded', 'succeeded')],
  'payment_intent.failed': (data) => [payment(data, 'payment.failed', 'failed')],
  'payment_intent.canceled': (data) => [payment(data, 'payment.failed', 'canceled')],
  'subscription.created': (data) => [
    subscription(data, 'subscription.created', data.status),
    subscription(data, isIn(activeStatuses, data) ? 'membership.activated' : 'membership.pending', data.status),
  ],
  'subscription.updated': (data) =>
    data.shared_fact?.is_first
      ? end(data)
      : [subscription(data, 'subscription.updated', data.status), ...membershipChange(data)],
  'subscription.trial_will_end': (data) => [subscription(data, 'subscription.updated', data.status)],
  'subscription.deleted': (data) => (isRepeated(data) ? [] : end(data)),
  'invoice.payment_succeeded': (data) =>
    isRepeated(data) || !isExtension(data) ? [] : invoice(data, 'membership.extended'),
  'invoice.payment_failed': (data) => invoice(data, 'membership.pending'),
  'customer.created': (data) => [customer(data, 'customer.created', data.status)],
  'customer.updated': (data) => [customer(data, 'customer.updated', data.status)],
}
const translations: ReadonlyMap<string | null, Translation> = new Map(Object.entries(rules))

/**
 * The canonical messages of a foreign notification. None without a generic name, or for a payment without id or amount.
 * A missing currency is allowed: some providers have one currency per account and do not name it.
 */
export function foreignMessages(data: ForeignFacts): readonly CanonicalMessage[] {
  const isIncomplete = data.object_id === null || data.amount_cents === null
  return isIncomplete && data.generic_type?.startsWith('payment_intent.') ? [] : translatedMessages(data)
}

/** Like `foreignMessages`, but also for incomplete payments. */
export function translatedMessages(data: ForeignFacts): readonly CanonicalMessage[] {
  const { generic_type, shared_fact } = data
  // Stripe's `invoice.paid` has no generic type: raw and legacy endpoints get the other notification of the same invoice.
  const rule = generic_type ?? (shared_fact?.kind === 'paid_invoice' ? 'invoice.payment_succeeded' : null)
  return translations.get(rule)?.(data) ?? []
}

/** Whether another notification has reported the same fact before. */
const isRepeated = ({ shared_fact }: ForeignFacts): boolean => shared_fact?.is_first === false

/**
 * Whether a paid invoice extends a membership. The first invoice comes with the subscription, whose own message already
 * activates the membership. Events of 1.0.0 do not show more than that.
 */
function isExtension({ subscription, shared_fact }: ForeignFacts): boolean {
  return shared_fact === undefined ? !subscription?.is_first_invoice : shared_fact !== null
}

function end(data: ForeignFacts): readonly CanonicalMessage[] {
  const status = data.status ?? 'canceled'
  return [subscription(data, 'subscription.cancelled', status), subscription(data, 'membership.cancelled', status)]
}

/** A foreign payment has the provider's id instead of ours. The customer is only in `user`, as for payments of ours. */
export function payment(
  data: ForeignFacts,
  name: CanonicalName,
  status: string | null,
  more: Partial<WebhookFacts> = {},
): CanonicalMessage {
  return {
    event: name,
    ...webhookFacts(data, { user: providerCustomer(data), payment_id: data.object_id, status, ...more }),
  }
}

/** The membership message for a subscription update, if the notification reports a changed status. */
function membershipChange(data: ForeignFacts): readonly CanonicalMessage[] {
  if (!data.subscription?.status_changed) return []
  if (isIn(activeStatuses, data)) return [subscription(data, 'membership.activated', data.status)]
  return isIn(waitingStatuses, data) ? [subscription(data, 'membership.pending', data.status)] : []
}

const isIn = (statuses: ReadonlySet<string>, { status }: ForeignFacts) => status !== null && statuses.has(status)

export function subscription(data: ForeignFacts, name: CanonicalName, status: string | null): CanonicalMessage {
  return message(data, name, {
    status,
    ...subscriptionFacts(data, data.subscription?.subscription_id ?? data.object_id),
  })
}

function invoice(data: ForeignFacts, name: CanonicalName): readonly CanonicalMessage[] {
  // `null` means that the provider reports the subscription of an invoice, and this one has none: it extends nothing.
  return data.subscription?.subscription_id === null ? [] : [invoiceMessage(data, name)]
}

export function invoiceMessage(data: ForeignFacts, name: CanonicalName): CanonicalMessage {
  const ofSubscription = subscriptionFacts(data, data.subscription?.subscription_id ?? null)
  return message(data, name, { payment_id: invoiceId(data), status: data.status, ...ofSubscription })
}

/** The id of the invoice; `null` when the provider reports only the subscription. */
export function invoiceId({
  object_id,
  subscription,
}: Pick<ForeignFacts, 'object_id' | 'subscription'>): string | null {
  return object_id === (subscription?.subscription_id ?? null) ? null : object_id
}

function subscriptionFacts({ subscription }: ForeignFacts, subscription_id: string | null) {
  const current_period_end = subscription?.current_period_end ?? null
  return {
    ...(subscription_id === null ? {} : { subscription_id }),
    ...(current_period_end === null ? {} : { current_period_end }),
  }
}

export function customer(data: ForeignFacts, name: CanonicalName, status: string | null): CanonicalMessage {
  return message({ ...data, customer_id: data.object_id ?? data.customer_id }, name, { status })
}

function message(data: ForeignFacts, event: CanonicalName, known: Partial<WebhookFacts>): CanonicalMessage {
  const { customer_id } = data
  const ofCustomer = customer_id === null ? {} : { customer_id }
  return { event, ...webhookFacts(data, { user: providerCustomer(data), ...ofCustomer, ...known }) }
}

/** The provider's customer, who is not one of our users and has a separate type. */
export function providerCustomer({
  customer_id: id,
  customer_email: email,
}: Pick<ForeignFacts, 'customer_id' | 'customer_email'>) {
  return { id, type: 'customer', email }
}
