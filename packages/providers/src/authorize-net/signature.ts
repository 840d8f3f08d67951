// The signature of Authorize.Net's notifications: HMAC-SHA512 over the bytes, with the key taken as text.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'

/**
 * The key as it goes into the HMAC: its 128 hexadecimal digits as ASCII text, in upper case as the merchant interface
 * shows them, and never the bytes that they could stand for.
 */
function normalizedKey(key: string): string {
  return /^[0-9a-f]{128}$/i.test(key) ? key.toUpperCase() : key
}

/**
 * Checks an `X-ANET-Signature` header, `sha512=<hex>`, against the bytes that came. There is no time in it, so that a
 * notification can be replayed for ever; its id has to be remembered for as long.
 * @param keys every key that is valid now; an old one lives for a day beside the new one
 * @throws DomainError `invalid_signature`
 */
export function verifySignature(keys: readonly string[], header: string | string[] | undefined, body: Buffer): void {
  const given = readSignature(header)
  const matches = keys.some((key) =>
    timingSafeEqual(createHmac('sha512', normalizedKey(key)).update(body).digest(), given),
  )
  if (!matches) throw new DomainError('invalid_signature', 'The signature does not match the body')
}

/** @throws DomainError `invalid_signature` for a header that is malformed */
export function readSignature(header: string | string[] | undefined): Buffer {
  const [, hex] = typeof header === 'string' ? (/^sha512=([0-9a-f]{128})$/i.exec(header) ?? []) : []
  if (!hex) throw new DomainError('invalid_signature', 'The X-ANET-Signature header is missing or malformed')
  return Buffer.from(hex, 'hex')
}
