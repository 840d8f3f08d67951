// Reads the facts of a simulated notification from fields that may be missing or of any type.
import { codeAt, emailAt, unitsAt, unixTimeAt } from './lenient.ts'
import type { ProviderNotification } from './provider.ts'
import type { ProviderObject } from './providerPlugin.ts'

type Facts = Pick<
  ProviderNotification,
  'object_id' | 'amount_cents' | 'currency' | 'status' | 'customer_id' | 'customer_email'
>

/**
 * Adds the facts that the provider's own reader did not find, from the object's fields of interface section 6.1.
 * @param isInMinorUnits whether `amount` is in the interface's minor units, and overrides the reader's amount
 */
export function factsOfObject(read: Facts, object: ProviderObject, isInMinorUnits: boolean): Facts {
  const minorUnits = unitsAt(object, 'amount')
  const { customer, currency, status } = object
  return {
    object_id: read.object_id ?? codeIn(object.id),
    amount_cents: isInMinorUnits ? minorUnits : (read.amount_cents ?? minorUnits),
    currency: read.currency ?? (/^[A-Za-z]{3}$/.test(codeIn(currency) ?? '') ? String(currency).toUpperCase() : null),
    status: read.status ?? codeIn(status)?.toLowerCase() ?? null,
    customer_id: read.customer_id ?? codeIn(isObject(customer) ? customer.id : customer),
    customer_email: read.customer_email ?? emailAt(object, 'customer_email') ?? emailAt(object, 'email'),
  }
}

/**
 * The time of a client's event, in the interface's or the provider's shape.
 * @param key of the time in the provider's own events
 */
export function timeOfEvent(event: ProviderObject, key: string): Date | null {
  const inSeconds = unixTimeAt(event.created)
  if (inSeconds !== null) return new Date(inSeconds)
  const text = event[key]
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN
  // Later years have more than four digits in ISO 8601.
  return unixTimeAt(Math.floor(time / 1000)) === null ? null : new Date(time)
}

export function isObject(value: unknown): value is ProviderObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Accepts numeric ids too. */
export function codeIn(value: unknown): string | null {
  return codeAt(Number.isSafeInteger(value) ? String(value) : value)
}
