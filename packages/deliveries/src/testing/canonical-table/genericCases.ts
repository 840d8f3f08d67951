// The expected webhooks of generic notifications (interface §6.1), the same for every provider that accepts them.

import { foreignLegacyMessage, foreignMessage, type Message, noMoney } from './canonicalTableHarness.ts'
import {
  customer as customerBody,
  intent,
  invoice as invoiceBody,
  method as methodBody,
  subscription as subscriptionBody,
} from './genericFixtures.ts'

export type GenericCase = {
  readonly type: string
  readonly object: object
  readonly canonical: readonly Message[]
  readonly legacy: readonly Message[]
}

const bo = { id: 'cus_F1', email: 'bo@example.com' }
const five = { amount: 500, currency: 'EUR' }
const customer_id = 'cus_F1'

const payment = (kind: string, status: string, canonical: string | null = null): GenericCase => {
  const fields = { payment_id: 'intent_F1', ...five, status }
  return {
    type: `payment_intent.${kind}`,
    object: intent('native status'),
    canonical: canonical === null ? [] : [foreignMessage(canonical, bo, { ...fields, customer_id })],
    legacy: [foreignLegacyMessage(`payment_intent.${kind}`, bo, fields)],
  }
}
const subscription = (kind: string, status: string, names: string): GenericCase => ({
  type: `subscription.${kind}`,
  object: subscriptionBody(status),
  canonical: names
    .split(' ')
    .map((name) => foreignMessage(name, bo, { ...five, status, subscription_id: 'sub_F1', customer_id })),
  legacy: [foreignLegacyMessage(`subscription.${kind}`, bo, { ...five, status })],
})
const invoice = (kind: string, status: string, canonical: string): GenericCase => {
  const fields = { payment_id: 'in_F1', ...five, status }
  return {
    type: `invoice.${kind}`,
    object: invoiceBody(status),
    canonical: [foreignMessage(canonical, bo, { ...fields, customer_id })],
    legacy: [foreignLegacyMessage(`invoice.${kind}`, bo, fields)],
  }
}
const customer = (kind: string, canonical: string, status: string | null): GenericCase => ({
  type: `customer.${kind}`,
  object: customerBody(),
  canonical: [foreignMessage(canonical, bo, { ...noMoney, status, customer_id })],
  legacy: [foreignLegacyMessage(`customer.${kind}`, bo, { ...noMoney, status: null })],
})
const method = (kind: string): GenericCase => ({
  type: `payment_method.${kind}`,
  object: methodBody(),
  canonical: [],
  legacy: [foreignLegacyMessage(`payment_method.${kind}`, { email: null }, { ...noMoney, status: null })],
})

/** One case for every name of interface §6.1, and one unknown type. */
export const genericCases: readonly GenericCase[] = [
  payment('created', 'pending', 'payment.created'),
  payment('requires_action', 'pending'),
  payment('processing', 'processing'),
  payment('succeeded', 'succeeded', 'payment.succeeded'),
  payment('failed', 'failed', 'payment.failed'),
  payment('canceled', 'canceled', 'payment.failed'),
  subscription('created', 'active', 'subscription.created membership.activated'),
  subscription('created', 'trialing', 'subscription.created membership.activated'),
  subscription('created', 'incomplete', 'subscription.created membership.pending'),
  subscription('updated', 'active', 'subscription.updated'),
  subscription('updated', 'paused', 'subscription.updated'),
  subscription('trial_will_end', 'trialing', 'subscription.updated'),
  subscription('deleted', 'canceled', 'subscription.cancelled membership.cancelled'),
  invoice('payment_succeeded', 'paid', 'membership.extended'),
  invoice('payment_failed', 'open', 'membership.pending'),
  customer('created', 'customer.created', null),
  customer('updated', 'customer.updated', null),
  customer('deleted', 'customer.updated', 'deleted'),
  method('attached'),
  method('detached'),
  method('updated'),
  { type: 'charge.refunded', object: intent('refunded'), canonical: [], legacy: [] },
]
