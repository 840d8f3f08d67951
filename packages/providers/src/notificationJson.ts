// The JSON that a notification's bytes are.
import { DomainError } from '@paylog/domain/errors'

/**
 * What is not quite JSON in UTF-8 is refused and not repaired, a byte order mark before it included.
 * @throws DomainError `invalid_request`
 */
export function notificationJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
  } catch (cause) {
    throw new DomainError('invalid_request', 'The body is not JSON', undefined, { cause })
  }
}
