// ETag and If-Match: a change applies only to the revision that the client has read (RFC 9110, section 13.1.1).
import { DomainError } from '@paylog/domain/errors'
import type { Revision } from '@paylog/event-store/append/append'
import { Type } from 'typebox'

/** The headers of a request to change or delete something. */
export const IfMatchHeaders = Type.Object({
  'if-match': Type.Optional(Type.String({ description: 'The ETag that the client has read' })),
})

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
  throw new DomainError('precondition_failed', 'The resource has changed; read it again', { etag })
}
