// ETag and If-Match: a change applies only to the revision that the client has read (RFC 9110, section 13.1.1).
import { DomainError } from '@paylog/domain/errors'
import type { Revision } from '@paylog/event-store/append/append'
import { Type } from 'typebox'

/** The headers of a request to change or delete something. */
export const IfMatchHeaders = Type.Object({
  'if-match': Type.Optional(Type.String({ description: 'The ETag that the client has read' })),
})

/**
 * A revision, perhaps as a proxy returns it that compresses responses: weak (nginx), or with the encoding after one or two
 * dashes (Apache, Caddy, Jetty). The resource is the same, so that the revision counts.
 */
const tagOfRevision = /^(?:W\/)?"(\d+)(?:--?[a-z]+)?"$/

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
  const revisions = header.split(',').flatMap((tag) => tagOfRevision.exec(tag.trim())?.[1] ?? [])
  if (header.trim() === '*' || revisions.includes(String(revision))) return
  if (revisions.length === 0)
    throw new DomainError('precondition_failed', 'If-Match must be the ETag of a response, such as "3", or *', { etag })
  throw new DomainError('precondition_failed', 'The resource has changed; read it again', { etag })
}
