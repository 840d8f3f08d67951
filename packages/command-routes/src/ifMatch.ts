// ETag and If-Match: a change applies only to the revision that the client has read (RFC 9110, section 13.1.1).
import { DomainError } from '@paylog/domain/errors'
import type { Revision } from '@paylog/event-store/append/append'
import { Type } from 'typebox'

/** The headers of a request to change or delete something. */
export const IfMatchHeaders = Type.Object({
  'if-match': Type.Optional(Type.String({ description: 'The ETag that the client has read' })),
})

/** A weak ETag never matches (RFC 9110, section 8.8.3.2). */
const strongTag = /^"[\x21\x23-\x7e\x80-\xff]*"$/

/** The ETag of a resource is the revision of its stream. */
export function etagOf(revision: Revision): string {
  return `"${revision}"`
}

/**
 * @param header the raw If-Match header; undefined allows any revision
 * @param revision the stream's current revision
 * @throws DomainError `precondition_failed`
 */
export function requireMatch(header: string | undefined, revision: Revision): void {
  if (header === undefined) return
  if (revision === 'no_stream') throw new DomainError('precondition_failed', 'The resource does not exist')
  const etag = etagOf(revision)
  const tags = header.split(',').map((tag) => tag.trim())
  if (header.trim() === '*' || tags.includes(etag)) return
  if (!tags.some((tag) => strongTag.test(tag)))
    throw new DomainError('precondition_failed', 'If-Match must be the ETag of a response, such as "3", or *', { etag })
  throw new DomainError('precondition_failed', 'The resource has changed; read it again', { etag })
}
