// Signatures by the Standard Webhooks specification (symmetric scheme, `v1`).
import { createHmac } from 'node:crypto'

const prefix = 'whsec_'
const minKeyBytes = 24
const maxKeyBytes = 64

/**
 * The HMAC key behind a secret: base64 after the prefix `whsec_`, which may be missing, of 24 to 64 bytes as the
 * specification says. `undefined` when the text is no such secret.
 */
export function signingKey(secret: string): Buffer | undefined {
  const encoded = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined
  // One character more than whole groups of four holds nothing: another one is missing.
  if (encoded.replace(/=+$/, '').length % 4 === 1) return undefined
  const key = Buffer.from(encoded, 'base64')
  return key.length >= minKeyBytes && key.length <= maxKeyBytes ? key : undefined
}

export type SignedMessage = {
  readonly id: string
  /** When this attempt is made; every attempt is signed anew, because receivers refuse old timestamps. */
  readonly at: Date
  /** The exact text that is sent. */
  readonly body: string
  /** One signature per secret, so that a receiver can change over at its own pace. Without secrets none is sent. */
  readonly secrets: readonly string[]
  /** Marks what somebody sends to try endpoints out. The body says so as well, and that is signed. */
  readonly isTest?: boolean
}

/** The headers that identify an attempt and, with at least one secret, prove where it comes from. */
export function webhookHeaders({ id, at, body, secrets, isTest }: SignedMessage): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1_000).toString()
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, ...(isTest && { 'webhook-test': 'true' }) }
  if (secrets.length === 0) return headers
  const signatures = secrets.map((secret) => sign(secret, `${id}.${timestamp}.${body}`))
  return { ...headers, 'webhook-signature': signatures.join(' ') }
}

function sign(secret: string, content: string): string {
  const key = signingKey(secret)
  if (key === undefined) throw new Error('A webhook secret must be base64 of 24 to 64 bytes')
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}
