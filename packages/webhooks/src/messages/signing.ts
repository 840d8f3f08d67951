// Signatures by the Standard Webhooks specification (symmetric scheme, `v1`).
import { createHmac } from 'node:crypto'

const prefix = 'whsec_'
const minKeyBytes = 24
const maxKeyBytes = 64

/**
 * Decodes a secret: base64 of 24 to 64 bytes, with or without the prefix `whsec_`. `undefined` when the text is not a valid
 * secret.
 */
export function signingKey(secret: string): Buffer | undefined {
  const encoded = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined
  // A single character in the last group of four cannot encode a byte, so the text was cut.
  if (encoded.replace(/=+$/, '').length % 4 === 1) return undefined
  const key = Buffer.from(encoded, 'base64')
  return key.length >= minKeyBytes && key.length <= maxKeyBytes ? key : undefined
}

export type SignedMessage = {
  readonly id: string
  /** The time of this attempt. Every attempt has its own signature, because receivers reject old timestamps. */
  readonly at: Date
  readonly body: string
  /** One signature per secret, so that receivers can switch during a rotation. Empty means unsigned. */
  readonly secrets: readonly string[]
  /** The revision of the source event in its stream: a higher one is newer. */
  readonly sequence: bigint
  /** Adds the `webhook-test` header. The signed body has a `test` field too. */
  readonly isTest?: boolean
}

/** The headers of every request to an endpoint, besides those of its message. */
export const contentHeaders = { 'content-type': 'application/json', 'user-agent': 'paylog-webhooks/1' } as const

/** The headers that are the same in every attempt: id, sequence and, of a test, `webhook-test`. */
export function messageHeaders({
  id,
  sequence,
  isTest,
}: Pick<SignedMessage, 'id' | 'sequence' | 'isTest'>): Record<string, string> {
  return { 'webhook-id': id, 'webhook-sequence': sequence.toString(), ...(isTest ? { 'webhook-test': 'true' } : {}) }
}

/** The headers of an attempt: id, timestamp, sequence and, with at least one secret, signatures. */
export function webhookHeaders({ id, at, body, secrets, sequence, isTest }: SignedMessage): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1_000).toString()
  const headers: Record<string, string> = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...messageHeaders({ id, sequence, isTest: isTest === true }),
  }
  if (secrets.length > 0)
    headers['webhook-signature'] = secrets.map((secret) => sign(secret, `${id}.${timestamp}.${body}`)).join(' ')
  return headers
}

function sign(secret: string, content: string): string {
  const key = signingKey(secret)
  if (key === undefined) throw new Error('A webhook secret must be base64 of 24 to 64 bytes')
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}
