// The ids of the fake Stripe, and the version of the API that it speaks.
import { randomBytes } from 'node:crypto'

export const apiVersion = '2026-10-28.endive'

/** Letters and digits, as in Stripe's own ids. */
export function stripeId(prefix: string): string {
  return `${prefix}_${randomBytes(18).toString('base64url').replaceAll(/[-_]/g, 'x')}`
}

/** What a payer's form needs to show an intent. */
export function stripeSecret(id: string): string {
  return `${id}_secret_${randomBytes(16).toString('hex')}`
}
