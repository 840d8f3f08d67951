// Signs PayPal's notifications and verifies their signatures.
import { createSign, createVerify, generateKeyPairSync, randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type SignedEvent, valueAt } from '../fakeServer.ts'
import type { PaypalEvent } from './events.ts'
import { type FakeResponse, parseJson, respondWith, textAt, validationError } from './responses.ts'

/**
 * The bytes of a member's value, exactly as written.
 * @param json a valid JSON object
 * @returns `undefined` when the object has no such member, or several
 */
function rawMember(json: Buffer, name: string): Buffer | undefined {
  // Byte by byte: non-ASCII bytes occur in strings only, which are skipped.
  const text = json.toString('latin1')
  const found: Buffer[] = []
  let depth = 0
  let key: string | undefined
  let valueAt = 0
  const close = (end: number) => {
    if (key === name) found.push(Buffer.from(text.slice(valueAt, end).trim(), 'latin1'))
    key = undefined
  }
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [symbol] = match
    if (symbol.startsWith('"')) {
      if (depth === 1 && key === undefined) key = String(JSON.parse(symbol))
    } else if (symbol === ':' && depth === 1) valueAt = token.lastIndex
    else if (symbol === '{' || symbol === '[') depth++
    else if (symbol === '}' || symbol === ']') {
      if (depth === 1) close(match.index)
      depth--
    } else if (symbol === ',' && depth === 1) close(match.index)
  }
  return found.length === 1 ? found[0] : undefined
}

/** The required format of each member of a verification request. */
const members: Readonly<Record<string, RegExp>> = {
  auth_algo: /^[a-zA-Z0-9]{1,100}$/,
  cert_url: /^https?:\/\/.{1,490}$/,
  transmission_id: /^(?!\d+$)\w+\S{0,49}$/,
  // PayPal documents a first character of `\w`, but base64 may begin with the other two.
  transmission_sig: /^(?!\d+$)[\w+/]\S{0,499}$/,
  transmission_time: /^\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)$/,
  webhook_id: /^[a-zA-Z0-9]{1,50}$/,
}

const certificateUrl = 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-1d93a270'

// One key pair for all fakes of a process, because generating one is slow.
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })

export function createSignatures(webhookIds: readonly string[]) {
  const signedText = (id: string, time: string, webhookId: string, event: Buffer) =>
    `${id}|${time}|${webhookId}|${crc32(event)}`
  return {
    /** @param webhookId default: the app's first webhook */
    sign({ body }: Pick<PaypalEvent, 'body'>, webhookId = webhookIds[0] ?? ''): SignedEvent {
      const id = randomUUID()
      const time = new Date().toISOString()
      const text = signedText(id, time, webhookId, Buffer.from(body))
      return {
        body,
        headers: {
          'content-type': 'application/json',
          'paypal-auth-algo': 'SHA256withRSA',
          'paypal-cert-url': certificateUrl,
          'paypal-transmission-id': id,
          'paypal-transmission-sig': createSign('sha256').update(text).sign(keys.privateKey, 'base64'),
          'paypal-transmission-time': time,
        },
      }
    },
    /** `POST /v1/notifications/verify-webhook-signature`. @param body the bytes of the request */
    verify(body: Buffer): FakeResponse {
      const request = parseJson(body.toString('utf8'))
      const fields = Object.entries(members).map(([name, pattern]) => [name, textAt(request, pattern, name)] as const)
      // The event's bytes are taken from the request, so that a re-serialised event does not match.
      const event = rawMember(body, 'webhook_event')
      const isComplete = fields.every(([, value]) => value !== undefined)
      if (!isComplete || !event || typeof valueAt(request, 'webhook_event') !== 'object') return validationError
      const {
        auth_algo,
        cert_url,
        transmission_id = '',
        transmission_sig = '',
        transmission_time = '',
        webhook_id = '',
      } = Object.fromEntries(fields)
      const isOurs = auth_algo === 'SHA256withRSA' && cert_url === certificateUrl && webhookIds.includes(webhook_id)
      const text = signedText(transmission_id, transmission_time, webhook_id, event)
      const isSigned = createVerify('sha256').update(text).verify(keys.publicKey, transmission_sig, 'base64')
      const verification_status = isOurs && isSigned ? 'SUCCESS' : 'FAILURE'
      return respondWith(200, () => ({ verification_status }))
    },
  }
}
