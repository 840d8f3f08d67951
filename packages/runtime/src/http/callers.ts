// Who may call a route: hooks that find the caller and refuse the wrong kind.
import type { IncomingHttpHeaders } from 'node:http'
import type { Actor, Guest, Session } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is calling; there on every route that has one of the hooks below. */
    actor: Actor
  }
}

/** Finds the caller of a request; see `createIdentity`, which throws for credentials that are not valid. */
export type ActorOf = (request: {
  readonly headers: IncomingHttpHeaders
  readonly query: Readonly<Record<string, unknown>>
  /** Told of each credential that is not valid. */
  readonly onInvalid?: () => void
}) => Promise<Actor>

export type Callers = {
  /** Everyone whose credentials, if any were presented, are valid. */
  readonly anyone: onRequestAsyncHookHandler
  readonly sessionOrGuest: onRequestAsyncHookHandler
  /** The same, and guests whose token has expired but is remembered (interface, section 5, rule 6). */
  readonly sessionOrRememberedGuest: onRequestAsyncHookHandler
  readonly session: onRequestAsyncHookHandler
  readonly administrator: onRequestAsyncHookHandler
}

/**
 * `onRequest` hooks that set `request.actor`, before a byte of the body is read. An anonymous caller is refused with 401
 * `unauthenticated`, a known one that may not do this with 403 `forbidden`.
 * @param actorOrRemembered finds the caller where an expired guest token may do
 */
export function createCallers(actorOf: ActorOf, actorOrRemembered: ActorOf = actorOf): Callers {
  const allowing =
    (isAllowed: (actor: Actor) => boolean, who: string, find = actorOf): onRequestAsyncHookHandler =>
    async (request) => {
      const onInvalid = () => {
        request.refusedCredentials += 1
      }
      const actor = await find({ headers: request.headers, query: queryOf(request), onInvalid })
      request.actor = actor
      if (!isAllowed(actor)) throw accessError(actor, who)
    }
  const isKnown = ({ kind }: Actor) => kind !== 'anonymous'
  const known = 'sessions and guest tokens'
  return {
    anyone: allowing(() => true, 'anyone'),
    sessionOrGuest: allowing(isKnown, known),
    sessionOrRememberedGuest: allowing(isKnown, known, actorOrRemembered),
    session: allowing(({ kind }) => kind === 'session', 'sessions'),
    administrator: allowing((actor) => actor.kind === 'session' && actor.is_administrator, 'administrators'),
  }
}

function accessError(actor: Actor, who: string): DomainError {
  return actor.kind === 'anonymous' ? unauthenticatedError() : new DomainError('forbidden', `This is for ${who} only`)
}

function unauthenticatedError(): DomainError {
  return new DomainError('unauthenticated', 'A credential is required')
}

export type KnownActor = Session | Guest

/**
 * The caller of a route that only known callers get to.
 * @throws DomainError `unauthenticated` should the route have forgotten its hook: it fails closed
 */
export function knownActor(actor: Actor): KnownActor {
  if (actor.kind === 'anonymous') throw unauthenticatedError()
  return actor
}

function queryOf({ query }: FastifyRequest): Readonly<Record<string, unknown>> {
  return typeof query === 'object' && query !== null ? { ...query } : {}
}
