// A provider's own event, passed on under the provider's own name.
import { gunzipSync } from 'node:zlib'
import type { EventOf } from './canonical.ts'

type Received = EventOf<'ProviderEventReceived'>['data']
/** What a raw message is made of. */
export type RawSource = Pick<Received, 'provider_id' | 'provider_type' | 'occurred_at' | 'body' | 'body_encoding'> & {
  readonly is_test?: boolean
}

/** The name on the wire: `<provider>:<native type>`. */
export function rawName({ provider_id, provider_type }: Pick<Received, 'provider_id' | 'provider_type'>): string {
  return `${provider_id}:${provider_type}`
}

/**
 * The raw payload. The provider's text is put in as it came: parsing and printing it again would turn `0.0` into `0`
 * and round large numbers, and receivers who know the provider's format would see what it never sent. Only half a
 * surrogate pair is replaced: it has no bytes that could be signed or stored. A byte order mark before the text is no
 * part of it.
 */
export function rawBody(data: RawSource): string {
  const text = bodyText(data).replace(/^\ufeff/, '')
  const head = JSON.stringify({ event: rawName(data), provider: data.provider_id, timestamp: data.occurred_at })
  const event = isJson(text) ? text.toWellFormed() : JSON.stringify(text)
  return `${head.slice(0, -1)},"data":${event}${data.is_test === true ? ',"test":true' : ''}}`
}

/** The text that the provider signed. */
function bodyText({ body, body_encoding }: RawSource): string {
  return body_encoding === 'gzip' ? gunzipSync(Buffer.from(body, 'base64')).toString('utf8') : body
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
