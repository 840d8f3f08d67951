// Stream names and UUIDs as requests carry them.
import type { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'

/** Index entries of Postgres end at about 2,700 bytes, and a name is stored in two indexes beside other columns. */
const maxNameBytes = 2_000

/** A request that cannot be understood; each call answers it in its own way. */
export class BadRequestError extends Error {
  override readonly name = 'BadRequestError'
}

/** @throws BadRequestError for an absent, empty, too long or unstorable name */
export function streamNameOf(identifier: StreamIdentifier | undefined): string {
  const bytes = identifier?.getStreamName_asU8()
  if (bytes === undefined || bytes.length === 0) throw new BadRequestError('A stream name is required')
  if (bytes.length > maxNameBytes) throw new BadRequestError(`A stream name has at most ${maxNameBytes} bytes`)
  return storableText(Buffer.from(bytes).toString('utf8'), 'stream name')
}

/** Postgres text holds no NUL. */
export function storableText(text: string, what: string): string {
  if (text.includes('\0')) throw new BadRequestError(`A ${what} may not contain NUL`)
  return text
}

export function streamIdentifier(stream: string): StreamIdentifier {
  const message = new shared.StreamIdentifier()
  message.setStreamName(Buffer.from(stream, 'utf8'))
  return message
}

const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i

/**
 * A UUID in its usual lower-case form.
 * @throws BadRequestError when there is none, it is malformed or it is the nil UUID
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
  return uuidPattern.test(text) ? text.replaceAll('-', '').toLowerCase() : undefined
}

function half(bits: string): string {
  return BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, '0')
}
