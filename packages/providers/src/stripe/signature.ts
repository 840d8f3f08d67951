// The signature of Stripe's notifications: HMAC-SHA256 over "<unix seconds>.<body>". https://docs.stripe.com/webhooks/signature
import { createHmac, timingSafeEqual } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'

/** A signature older than this may be a replay; one from further ahead could be replayed for longer. */
const toleranceSeconds = 300

/**
 * Checks a `stripe-signature` header, `t=…,v1=…[,v1=…][,v0=…]`, against the bytes that came. The `stripe` package would
 * decode the bytes first, so that several bodies have the same signature, and would accept a time that is ahead.
 * @param secrets every secret that is valid now; more than one during a rotation
 * @throws DomainError `invalid_signature`
 */
export function verifyStripeSignature(
  secrets: readonly string[],
  header: string | string[] | undefined,
  body: Buffer,
  now: Date,
): void {
  const { timestamp, signatures } = readStripeSignature(header, now)
  // The whole secret is the key, with its prefix and without any decoding.
  const expected = secrets.map((secret) => createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest())
  const isSigned = signatures.some((given) => expected.some((mac) => timingSafeEqual(mac, given)))
  if (!isSigned) throw new DomainError('invalid_signature', 'The signature does not match the body')
}

/**
 * Stripe signs with each of its secrets during a rotation, and adds schemes; unknown ones say nothing.
 * @throws DomainError `invalid_signature` for a header that is malformed, or whose time is too far from `now`
 */
export function readStripeSignature(
  header: string | string[] | undefined,
  now: Date,
): { timestamp: string; signatures: readonly Buffer[] } {
  const parts = typeof header === 'string' ? header.split(',') : []
  const [timestamp, ...others] = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2))
  const signatures = parts
    .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
    .map((part) => Buffer.from(part.slice(3), 'hex'))
  if (timestamp === undefined || others.length > 0 || !/^\d{1,12}$/.test(timestamp) || signatures.length === 0)
    throw new DomainError('invalid_signature', 'The stripe-signature header is missing or malformed')
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new DomainError('invalid_signature', `The signature is not from within ${toleranceSeconds} seconds`)
  return { timestamp, signatures }
}
