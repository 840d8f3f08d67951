// How the body of a notification is kept in its event, where it has to fit into one append.
import { gunzipSync, gzipSync } from 'node:zlib'

/** Longer texts are compressed. As JSON inside JSON a text can double, and the log takes 1 MiB. */
const maxUncompressedBytes = 256 * 1024

/** @param body UTF-8 text of at most 1 MiB */
export function encodeBody(body: Buffer): { readonly body: string; readonly body_encoding?: 'gzip' } {
  if (body.length <= maxUncompressedBytes) return { body: body.toString('utf8') }
  return { body: gzipSync(body).toString('base64'), body_encoding: 'gzip' }
}

/** The bytes of a body that was kept. */
export function decodeBody({ body, body_encoding }: ReturnType<typeof encodeBody>): Buffer {
  return body_encoding === 'gzip' ? gunzipSync(Buffer.from(body, 'base64')) : Buffer.from(body, 'utf8')
}
