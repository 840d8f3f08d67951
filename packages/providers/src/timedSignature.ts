// Signatures with a time: a header `t=<unix seconds>,v1=<hex>[,v1=…][,v0=…]` with HMAC-SHA256 over "<unix seconds>.<body>".
// Stripe signs so, and the sandbox does it likewise. https://docs.stripe.com/webhooks/signature
import { createHmac, timingSafeEqual } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import type { SignedNotification } from './provider.ts'

/** An older signature may be a replay; one from the future could be replayed for longer. */
const toleranceSeconds = 300

/** The key is the whole secret as text, including its prefix. */
const mac = (secret: string, timestamp: string, body: Buffer | string) =>
  createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()

/** The value of the header for a body, signed at a Unix time in seconds. */
export function signWithTime(secret: string, body: Buffer | string, unixSeconds: number): string {
  return `t=${unixSeconds},v1=${mac(secret, String(unixSeconds), body).toString('hex')}`
}

/**
 * Checks a notification against the received bytes. This is stricter than the `stripe` package, which decodes the bytes first,
 * so that several bodies have the same signature, and accepts a time in the future and a repeated one.
 * @param secrets all valid secrets; more than one during a rotation
 * @throws DomainError `invalid_signature`
 */
export function verifyTimedSignature(
  header: string,
  secrets: readonly string[],
  { headers, body, now }: SignedNotification,
): void {
  const { timestamp, signatures } = readTimedSignature(header, { headers, now })
  const expected = secrets.map((secret) => mac(secret, timestamp, body))
  const isSigned = signatures.some((given) => expected.some((own) => timingSafeEqual(own, given)))
  if (!isSigned) throw new DomainError('invalid_signature', 'The signature does not match the body')
}

/**
 * During a rotation there is a signature by each secret. Signatures of unknown schemes are ignored.
 * @throws DomainError `invalid_signature` for a header that is malformed, or whose time is too far from `now`
 */
export function readTimedSignature(
  header: string,
  { headers, now }: Omit<SignedNotification, 'body'>,
): { readonly timestamp: string; readonly signatures: readonly Buffer[] } {
  const text = headers[header]
  // A repeated header arrives as one text, joined by a comma and a space.
  const parts = typeof text === 'string' && !text.includes(' ') ? text.split(',') : []
  const [timestamp, ...others] = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2))
  const signatures = parts
    .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
    .map((part) => Buffer.from(part.slice(3), 'hex'))
  if (timestamp === undefined || others.length > 0 || !/^[1-9]\d{0,11}$/.test(timestamp) || signatures.length === 0)
    throw new DomainError('invalid_signature', `The ${header} header is missing or malformed`)
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new DomainError('invalid_signature', `The signature is not from within ${toleranceSeconds} seconds`)
  return { timestamp, signatures }
}
