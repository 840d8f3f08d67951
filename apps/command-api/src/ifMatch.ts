// If-Match: a change is made only to what the client has seen (RFC 9110, section 13.1.1).
import { DomainError } from '@paylog/domain/errors'

/**
 * @param header as it came; undefined asks for nothing
 * @param revision of the stream that is about to be changed
 * @throws DomainError `precondition_failed`
 */
export function requireMatch(header: string | undefined, revision: bigint | 'no_stream'): void {
  if (header === undefined) return
  if (revision === 'no_stream') throw new DomainError('precondition_failed', 'There is nothing that could match')
  const tags = header.split(',').map((tag) => tag.trim())
  if (header.trim() === '*' || tags.includes(`"${revision}"`)) return
  throw new DomainError('precondition_failed', 'It was changed since; read it again', { etag: `"${revision}"` })
}
