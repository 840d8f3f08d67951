// The signature of a webhook, by the Standard Webhooks specification, computed in the page.
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'

const prefix = 'whsec_'
const [minKeyBytes, maxKeyBytes] = [24, 64]

/** Decodes a secret: base64 of 24 to 64 bytes, with or without `whsec_`. Undefined for any other text. */
export function signingKey(secret: string): Uint8Array | undefined {
  const encoded = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined
  try {
    const key = Uint8Array.from(atob(encoded.replace(/=+$/, '')), (letter) => letter.charCodeAt(0))
    return key.length >= minKeyBytes && key.length <= maxKeyBytes ? key : undefined
  } catch {
    return undefined
  }
}

/**
 * The headers of one attempt that depend on it.
 * @param attempt `at` is the time of the attempt; `body` the exact body of the request
 */
export function signedHeaders(
  key: Uint8Array,
  attempt: { readonly id: string; readonly at: string; readonly body: string },
): Readonly<Record<'webhook-timestamp' | 'webhook-signature', string>> {
  const timestamp = String(Math.floor(Date.parse(attempt.at) / 1_000))
  const content = new TextEncoder().encode(`${attempt.id}.${timestamp}.${attempt.body}`)
  const signature = btoa(String.fromCharCode(...hmac(sha256, key, content)))
  return { 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
