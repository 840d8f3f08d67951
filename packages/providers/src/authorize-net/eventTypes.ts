// The names of Authorize.Net's notifications, and the generic names of interface section 6.1 that they stand for.
import { genericName, statusOfGenericType } from '../genericEvent.ts'

const paymentPrefix = 'net.authorize.payment.'

export function isAboutTransaction(provider_type: string): boolean {
  return provider_type.startsWith(paymentPrefix) || statusOfGenericType(provider_type) !== null
}

/** That money moved depends on the response code. */
const approvalEvents: ReadonlySet<string> = new Set([
  'authcapture.created',
  'capture.created',
  'priorAuthCapture.created',
  'fraud.approved',
])

const paymentEvents: Readonly<Record<string, string>> = {
  'authorization.created': 'payment_intent.processing',
  'fraud.held': 'payment_intent.processing',
  'fraud.declined': 'payment_intent.failed',
  'void.created': 'payment_intent.canceled',
}

const otherEvents: Readonly<Record<string, string>> = {
  'net.authorize.customer.created': 'customer.created',
  'net.authorize.customer.updated': 'customer.updated',
  'net.authorize.customer.deleted': 'customer.deleted',
  'net.authorize.customer.paymentProfile.created': 'payment_method.attached',
  'net.authorize.customer.paymentProfile.updated': 'payment_method.updated',
  'net.authorize.customer.paymentProfile.deleted': 'payment_method.detached',
  'net.authorize.customer.subscription.created': 'subscription.created',
  'net.authorize.customer.subscription.updated': 'subscription.updated',
  'net.authorize.customer.subscription.suspended': 'subscription.updated',
  'net.authorize.customer.subscription.cancelled': 'subscription.deleted',
  'net.authorize.customer.subscription.terminated': 'subscription.deleted',
  'net.authorize.customer.subscription.expired': 'subscription.deleted',
  'net.authorize.customer.subscription.expiring': 'subscription.trial_will_end',
  'net.authorize.customer.subscription.failed': 'invoice.payment_failed',
}

/** Whether more than the envelope is read of it. */
export function isUnderstood(provider_type: string): boolean {
  return isAboutTransaction(provider_type) || genericTypeOf(provider_type, null) !== null
}

/**
 * @param responseCode of a transaction: 1 approved, 2 declined, 3 error, 4 held for review
 * @returns `null` for what is told to raw receivers only
 */
export function genericTypeOf(provider_type: string, responseCode: string | null): string | null {
  if (!provider_type.startsWith(paymentPrefix)) return lookUp(otherEvents, provider_type) ?? genericName(provider_type)
  const name = provider_type.slice(paymentPrefix.length)
  // One that was refused says nothing against the payment that it would have given back.
  if (name === 'refund.created') return null
  if (responseCode === '2' || responseCode === '3') return 'payment_intent.failed'
  if (approvalEvents.has(name)) return approvedType(responseCode)
  return lookUp(paymentEvents, name)
}

function lookUp(table: Readonly<Record<string, string>>, key: string): string | null {
  return Object.hasOwn(table, key) ? (table[key] ?? null) : null
}

function approvedType(responseCode: string | null): string | null {
  if (responseCode === '1') return 'payment_intent.succeeded'
  return responseCode === '4' ? 'payment_intent.processing' : null
}
