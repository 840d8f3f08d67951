// The signature of the sandbox's notifications: HMAC-SHA256 over "<unix seconds>.<body>".
import { createHmac, timingSafeEqual } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'

/** An older signature may be a replay; one from the future could be replayed for longer. */
const signatureToleranceSeconds = 300

const mac = (secret: string, timestamp: string, body: Buffer | string) =>
  createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()

/** The value of the `sandbox-signature` header for a body, signed at a Unix time in seconds. */
export function signSandboxEvent(secret: string, body: Buffer | string, unixSeconds: number): string {
  return `t=${unixSeconds},v1=${mac(secret, String(unixSeconds), body).toString('hex')}`
}

/**
 * Checks a `sandbox-signature` header against the received bytes.
 * @param secrets all valid secrets; more than one during a rotation
 * @throws DomainError `invalid_signature`
 */
export function verifySandboxSignature(
  secrets: readonly string[],
  header: string | string[] | undefined,
  body: Buffer,
  now: Date,
): void {
  const { timestamp, given } = readSandboxSignature(header, now)
  if (!secrets.some((secret) => timingSafeEqual(mac(secret, timestamp, body), given)))
    throw new DomainError('invalid_signature', 'The signature does not match the body')
}

/** @throws DomainError `invalid_signature` for a header that is malformed, or whose time is too far from `now` */
export function readSandboxSignature(
  header: string | string[] | undefined,
  now: Date,
): { readonly timestamp: string; readonly given: Buffer } {
  const [, timestamp, hex] = typeof header === 'string' ? (/^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header) ?? []) : []
  if (!timestamp || !hex)
    throw new DomainError('invalid_signature', 'The sandbox-signature header is missing or malformed')
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > signatureToleranceSeconds)
    throw new DomainError('invalid_signature', `The signature is not from within ${signatureToleranceSeconds} seconds`)
  return { timestamp, given: Buffer.from(hex, 'hex') }
}
