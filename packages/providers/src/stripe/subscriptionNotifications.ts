// What Stripe's events about subscriptions, their invoices, customers and saved methods say.
import type { NotificationDetails, StripeEventData } from './details.ts'
import { codeIn, currencyIn, emailIn, idIn, moneyIn, objectIn, type StripeObject, timeIn } from './fields.ts'

/** @param changed whether the type alone says that the status is another one than before */
export function subscriptionDetails(
  { object, previous }: StripeEventData,
  changed: boolean,
): Partial<NotificationDetails> {
  return {
    currency: currencyIn(object.currency),
    subscription: {
      subscription_id: idIn(object.id),
      current_period_end: periodEndIn(object),
      status_changed: changed || codeIn(previous.status) !== null,
      is_first_invoice: false,
    },
  }
}

/** Versions of the API since 2025 have the period on the items, which may differ; we read the first one. */
function periodEndIn(subscription: StripeObject): string | null {
  const { data } = objectIn(subscription.items)
  const [first]: readonly unknown[] = Array.isArray(data) ? data : []
  return timeIn(objectIn(first).current_period_end) ?? timeIn(subscription.current_period_end)
}

/**
 * An invoice of Stripe's says which subscription it is of, if any; in the interface's own shape it says only what was paid.
 * @param paid the field that holds what was, or was to be, paid
 */
export function invoiceDetails(
  { object }: StripeEventData,
  paid: 'amount_paid' | 'amount_due',
): Partial<NotificationDetails> {
  const subscription_id = idIn(object.subscription) ?? idIn(subscriptionOf(object))
  const saysWhich = subscription_id !== null || object.object === 'invoice'
  const is_first_invoice = object.billing_reason === 'subscription_create'
  return {
    ...moneyIn(object[paid] ?? object.amount, object.currency),
    customer_email: emailIn(object.customer_email),
    subscription: saysWhich
      ? { subscription_id, current_period_end: null, status_changed: false, is_first_invoice }
      : null,
  }
}

/** Versions of the API since 2025 have it here. */
function subscriptionOf(invoice: StripeObject): unknown {
  return objectIn(objectIn(invoice.parent).subscription_details).subscription
}

export function customerDetails({ object }: StripeEventData): Partial<NotificationDetails> {
  return { customer_id: idIn(object.id), customer_email: emailIn(object.email) }
}

/** A method that was detached no longer says from whom, but what changed does. */
export function methodDetails({ object, previous }: StripeEventData): Partial<NotificationDetails> {
  return { customer_id: idIn(object.customer) ?? idIn(previous.customer) }
}
