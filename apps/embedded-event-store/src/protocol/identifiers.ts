// Stream names, revisions and UUIDs in requests.
import type { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'

/** Postgres index entries are limited to about 2,700 bytes, and names are in two indexes together with other columns. */
const maxNameBytes = 2_000

/** An invalid request; each call reports it in its own way. */
export class BadRequestError extends Error {
  override readonly name = 'BadRequestError'
}

/** @throws BadRequestError for a missing, empty, too long or unstorable name */
export function streamNameOf(identifier: StreamIdentifier | undefined): string {
  const name = optionalStreamNameOf(identifier)
  if (name === '') throw new BadRequestError('A stream name is required')
  return name
}

/**
 * The name, empty when there is none.
 * @throws BadRequestError for a too long or unstorable name
 */
export function optionalStreamNameOf(identifier: StreamIdentifier | undefined): string {
  const bytes = identifier?.getStreamName_asU8() ?? new Uint8Array()
  if (bytes.length > maxNameBytes) throw new BadRequestError(`A stream name has at most ${maxNameBytes} bytes`)
  return storableText(Buffer.from(bytes).toString('utf8'), 'stream name')
}

/** Postgres text cannot contain NUL. */
export function storableText(text: string, what: string): string {
  if (text.includes('\0')) throw new BadRequestError(`A ${what} may not contain NUL`)
  return text
}

export function streamIdentifier(stream: string): StreamIdentifier {
  const message = new shared.StreamIdentifier()
  message.setStreamName(Buffer.from(stream, 'utf8'))
  return message
}

const maxInt64 = 9223372036854775807n
/** EventStoreDB's revision for "end", which is also "no stream". */
const endRevision = 18446744073709551615n

/**
 * An expected revision, or a revision to read from. EventStoreDB reads the largest unsigned number as -1.
 * @throws BadRequestError for a number beyond 63 bits
 */
export function revisionOf(text: string): bigint {
  const revision = BigInt(text)
  if (revision === endRevision) return -1n
  if (revision > maxInt64) throw new BadRequestError('A revision has at most 63 bits')
  return revision
}

/** The formats that .NET parses: plain, hyphenated, or hyphenated in braces or parentheses. */
const uuidPattern =
  /^\s*(?:[0-9a-f]{32}|(?<open>[{(])?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?<close>[})])?)\s*$/i

/**
 * A UUID in its usual lower-case form.
 * @throws BadRequestError when it is missing, malformed or the nil UUID
 */
export function uuidOf(message: UUID | undefined): string {
  const hex = hexOf(message)
  if (hex === undefined || /^0+$/.test(hex)) throw new BadRequestError('A UUID is required')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function hexOf(message: UUID | undefined): string | undefined {
  const structured = message?.getStructured()
  if (structured !== undefined) {
    return half(structured.getMostSignificantBits()) + half(structured.getLeastSignificantBits())
  }
  const text = message?.getString() ?? ''
  const match = uuidPattern.exec(text)
  const brackets = `${match?.groups?.open ?? ''}${match?.groups?.close ?? ''}`
  if (match === null || !['', '{}', '()'].includes(brackets)) return undefined
  return text.replaceAll(/[^0-9a-f]/gi, '').toLowerCase()
}

function half(bits: string): string {
  return BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, '0')
}
