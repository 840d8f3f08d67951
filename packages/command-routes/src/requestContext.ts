// What the routes of every resource are given, and what they record of a request.
import { actorName, type Session } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import type { Callers } from '@paylog/runtime/http/callers'
import type { Workflow } from '@paylog/workflows/context'
import type { FastifyRequest } from 'fastify'

export type CommandDependencies = { readonly workflow: Workflow; readonly callers: Callers }

/** @returns what every event carries that comes of a request */
export function metadataOf({ actor, id: requestId }: FastifyRequest): EventMetadata {
  return { correlationId: requestId, causationId: requestId, actor: actorName(actor), requestId }
}

/** The session that a request comes with. @throws DomainError `forbidden` for any other caller */
export function sessionOf({ actor }: FastifyRequest): Session {
  if (actor.kind === 'session') return actor
  throw new DomainError('forbidden', 'This is for sessions only')
}
