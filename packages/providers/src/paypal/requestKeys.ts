// The keys of the calls that make something in the catalogue.
import { createHash } from 'node:crypto'

/**
 * The `PayPal-Request-Id` of a request. PayPal forgets it after 72 hours, and does not say what a known one gets that
 * comes with another content: so another content has another key.
 * @param idempotency_key of any length; PayPal's documented limit, for orders, is 108 characters
 */
export function requestKeyOf(idempotency_key: string, body: string): string {
  return createHash('sha256')
    .update(JSON.stringify([idempotency_key, body]))
    .digest('hex')
}
