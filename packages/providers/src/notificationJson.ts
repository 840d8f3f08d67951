// The JSON that a notification's bytes are.
import { DomainError } from '@paylog/domain/errors'

/**
 * What is not quite JSON in UTF-8 is refused and not repaired, a byte order mark before it included.
 * @returns the text to the byte, and what it says
 * @throws DomainError `invalid_request`
 */
export function notificationJson(body: Buffer): { readonly text: string; readonly json: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    return { text, json: JSON.parse(text) }
  } catch (cause) {
    throw new DomainError('invalid_request', 'The body is not JSON', undefined, { cause })
  }
}
