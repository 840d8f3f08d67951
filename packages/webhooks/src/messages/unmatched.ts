// Canonical messages of notifications about foreign objects, and of tests and simulations, by the generic names of
// interface §6.1.
import { attentionMessage } from '@paylog/domain/payments/attention'
import type { providerNotificationEvents } from '@paylog/domain/providerEvents'
import type { WebhookTestFacts } from '@paylog/domain/webhookTest'
import type { Static } from 'typebox'
import { type CanonicalName, canonicalName } from './canonicalNames.ts'
import { type CanonicalMessage, type WebhookFacts, webhookFacts } from './webhookFacts.ts'

/** The fields of a notification about a foreign object. */
export type Unmatched = Omit<
  Static<(typeof providerNotificationEvents)['ProviderEventUnmatched']>,
  'provider_event_id' | 'provider_type' | 'provider_time'
>
/** Webhooks about a notification have the provider's time. */
export function byProviderTime<Data extends { readonly provider_time: string }>(data: Data) {
  return { ...data, occurred_at: data.provider_time }
}

type Translation = (data: Unmatched) => readonly CanonicalMessage[]

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
export function unmatchedMessages(data: Unmatched): readonly CanonicalMessage[] {
  const isIncomplete = data.object_id === null || data.amount_cents === null
  return isIncomplete && data.generic_type?.startsWith('payment_intent.') ? [] : translatedMessages(data)
}

/** Like `unmatchedMessages`, but also for incomplete payments. */
function translatedMessages(data: Unmatched): readonly CanonicalMessage[] {
  const { generic_type, shared_fact } = data
  // Stripe's `invoice.paid` has no generic type: raw and legacy endpoints get the other notification of the same invoice.
  const rule = generic_type ?? (shared_fact?.kind === 'paid_invoice' ? 'invoice.payment_succeeded' : null)
  return translations.get(rule)?.(data) ?? []
}

/** Whether another notification has reported the same fact before. */
const isRepeated = ({ shared_fact }: Unmatched): boolean => shared_fact?.is_first === false

/**
 * Whether a paid invoice extends a membership. The first invoice comes with the subscription, whose own message already
 * activates the membership. Events of 1.0.0 do not show more than that.
 */
function isExtension({ subscription, shared_fact }: Unmatched): boolean {
  return shared_fact === undefined ? !subscription?.is_first_invoice : shared_fact !== null
}

function end(data: Unmatched): readonly CanonicalMessage[] {
  const status = data.status ?? 'canceled'
  return [subscription(data, 'subscription.cancelled', status), subscription(data, 'membership.cancelled', status)]
}

/** The message of a requested canonical name. The id of a refund or dispute is that of the test, because ids are ours. */
function messageByName(name: CanonicalName, data: WebhookTestFacts): CanonicalMessage {
  const { webhook_test_id: id, amount_cents: amount, status } = data
  switch (name) {
    case 'payment.created':
      return payment(data, name, 'pending')
    case 'payment.succeeded':
      return payment(data, name, 'succeeded')
    case 'payment.failed':
      return payment(data, name, status === 'canceled' ? 'canceled' : 'failed')
    case 'payment.refunded': {
      const refund = { id, amount, status: status === 'failed' ? status : 'succeeded', reason: 'other' } as const
      return payment(data, name, 'succeeded', { refund })
    }
    case 'payment.disputed': {
      const disputed = status === 'won' || status === 'lost' ? status : 'open'
      const dispute = { id, amount, status: disputed, reason: null, evidence_due_by: null } as const
      return payment(data, name, 'succeeded', { dispute })
    }
    case 'payment.attention': {
      const code = 'amount_mismatch'
      return payment(data, name, null, { attention: { code, message: attentionMessage(code) } })
    }
    case 'subscription.created':
    case 'subscription.updated':
    case 'membership.activated':
      return subscription(data, name, status)
    case 'subscription.cancelled':
    case 'membership.cancelled':
      return subscription(data, name, status ?? 'canceled')
    case 'membership.extended':
    case 'membership.pending':
      return invoiceMessage(data, name)
    case 'customer.created':
    case 'customer.updated':
      return customer(data, name, status)
  }
}

/** A foreign payment has the provider's id instead of ours. The customer is only in `user`, as for payments of ours. */
function payment(
  data: Unmatched,
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
function membershipChange(data: Unmatched): readonly CanonicalMessage[] {
  if (!data.subscription?.status_changed) return []
  if (isIn(activeStatuses, data)) return [subscription(data, 'membership.activated', data.status)]
  return isIn(waitingStatuses, data) ? [subscription(data, 'membership.pending', data.status)] : []
}

const isIn = (statuses: ReadonlySet<string>, { status }: Unmatched) => status !== null && statuses.has(status)

function subscription(data: Unmatched, name: CanonicalName, status: string | null): CanonicalMessage {
  return message(data, name, {
    status,
    ...subscriptionFacts(data, data.subscription?.subscription_id ?? data.object_id),
  })
}

function invoice(data: Unmatched, name: CanonicalName): readonly CanonicalMessage[] {
  // `null` means that the provider reports the subscription of an invoice, and this one has none: it extends nothing.
  return data.subscription?.subscription_id === null ? [] : [invoiceMessage(data, name)]
}

function invoiceMessage(data: Unmatched, name: CanonicalName): CanonicalMessage {
  const ofSubscription = subscriptionFacts(data, data.subscription?.subscription_id ?? null)
  return message(data, name, { payment_id: invoiceId(data), status: data.status, ...ofSubscription })
}

/** The id of the invoice; `null` when the provider reports only the subscription. */
export function invoiceId({ object_id, subscription }: Pick<Unmatched, 'object_id' | 'subscription'>): string | null {
  return object_id === (subscription?.subscription_id ?? null) ? null : object_id
}

function subscriptionFacts({ subscription }: Unmatched, subscription_id: string | null) {
  const current_period_end = subscription?.current_period_end ?? null
  return {
    ...(subscription_id === null ? {} : { subscription_id }),
    ...(current_period_end === null ? {} : { current_period_end }),
  }
}

function customer(data: Unmatched, name: CanonicalName, status: string | null): CanonicalMessage {
  return message({ ...data, customer_id: data.object_id ?? data.customer_id }, name, { status })
}

function message(data: Unmatched, event: CanonicalName, known: Partial<WebhookFacts>): CanonicalMessage {
  const { customer_id } = data
  const ofCustomer = customer_id === null ? {} : { customer_id }
  return { event, ...webhookFacts(data, { user: providerCustomer(data), ...ofCustomer, ...known }) }
}

/** The provider's customer, who is not one of our users and has a separate type. */
export function providerCustomer({
  customer_id: id,
  customer_email: email,
}: Pick<Unmatched, 'customer_id' | 'customer_email'>) {
  return { id, type: 'customer', email }
}

/** The canonical messages of a simulation, whose user is the provider's customer. */
export function simulationMessages(facts: WebhookTestFacts): readonly CanonicalMessage[] {
  const name = canonicalName(facts.canonical_name)
  const messages = name === undefined ? translated(facts) : [messageByName(name, facts)]
  return messages.map((message) => ({ ...message, owner: facts.requested_by.id, is_test: true }))
}

/** The canonical messages of a test, whose user is the one who requested it. */
export function testMessages(facts: WebhookTestFacts): readonly CanonicalMessage[] {
  return simulationMessages(facts).map((message) => ({ ...message, user: facts.requested_by }))
}

function translated(facts: WebhookTestFacts): readonly CanonicalMessage[] {
  return facts.canonical_name === null ? translatedMessages(facts) : []
}
