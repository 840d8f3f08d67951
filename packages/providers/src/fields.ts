// Field schemas shared by the providers' notifications and responses.

import { DomainError } from '@paylog/domain/errors'
import { recordedId } from '@paylog/domain/fields'
import type { SubscriptionFacts } from '@paylog/domain/providerEvents'
import { type TSchema, Type } from 'typebox'

/** Printable ASCII: ids and codes end up in stream names, tables and webhooks, where control characters do harm. */
export const Code = Type.String({ pattern: '^[\\x20-\\x7e]+$', maxLength: 200 })
/** An integer in the provider's own unit. */
export const Amount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
/** In seconds. Zero is no time. The maximum is the end of the year 9999, the last that ISO 8601 writes with four digits. */
export const UnixTime = Type.Integer({ minimum: 1, maximum: 253_402_300_799 })

/** A field that may be missing or `null`. */
export const maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]))

/** A payment id of ours. Other systems may use the same field for other values. */
export function paymentIdFrom(value: unknown): string | null {
  return typeof value === 'string' ? recordedId(value) : null
}

/** Most notifications about a subscription or its invoice only identify it. */
export function subscriptionFacts(
  subscription_id: string | null,
  known: Partial<SubscriptionFacts> = {},
): SubscriptionFacts {
  return { subscription_id, current_period_end: null, status_changed: false, is_first_invoice: false, ...known }
}

/**
 * Parses a notification strictly: invalid UTF-8 and a byte order mark are errors, not repaired.
 * @returns the text, byte for byte, and the parsed JSON
 * @throws DomainError `invalid_request`
 */
export function notificationJson(body: Buffer): { readonly text: string; readonly json: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    return { text, json: JSON.parse(text) }
  } catch (cause) {
    throw new DomainError('invalid_request', 'The body is not JSON', undefined, { cause })
  }
}

/**
 * `7.25`, `7.250` and `7` with two decimals → 725, 725 and 700, without floating point.
 * @returns `null` when it is not a number, too large, or has more decimals
 */
export function unitsOf(decimal: string, decimals: number): number | null {
  const [, whole, fraction = ''] = /^(\d{1,15})(?:\.(\d{1,10}))?$/.exec(decimal) ?? []
  if (whole === undefined || !/^0*$/.test(fraction.slice(decimals))) return null
  const units = Number(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
  return Number.isSafeInteger(units) ? units : null
}
