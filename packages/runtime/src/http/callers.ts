// Access control for routes: hooks that identify the caller and reject the wrong kind.
import type { IncomingHttpHeaders } from 'node:http'
import type { Actor, Guest, Session } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import type { onRequestAsyncHookHandler } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; set on every route that has one of the hooks below. */
    actor: Actor
  }
}

/** Identifies the caller of a request; see `createIdentity`, which throws for invalid credentials. */
export type ActorOf = (request: {
  readonly headers: IncomingHttpHeaders
  readonly query: unknown
  /** Called for each invalid credential. */
  readonly onInvalid?: () => void
}) => Promise<Actor>

/**
 * Who may call a route: `anyone` who presents no invalid credential; `sessionOrRememberedGuest` also with an expired guest token
 * that is remembered (interface, section 5, rule 6); `public` routes and those for `providers` need no credential.
 */
export type CallerKind = Exclude<keyof Callers, 'administrator'> | 'public' | 'providers'

type Hook = onRequestAsyncHookHandler
export type Callers = Readonly<
  Record<'anyone' | 'sessionOrGuest' | 'sessionOrRememberedGuest' | 'session' | 'administrator', Hook>
>

/** The credentials of a route, for the OpenAPI document; undefined for none. */
export function securityOf(
  kind: CallerKind | 'administrator',
): readonly Readonly<Record<string, readonly string[]>>[] | undefined {
  if (kind === 'public' || kind === 'providers') return undefined
  if (kind === 'session' || kind === 'administrator') return [{ session: [] }]
  const known = [{ session: [] }, { guest: [] }]
  return kind === 'anyone' ? [{}, ...known] : known
}

/** Whether a caller has all rights. */
export const isAdministrator = (actor: Actor): boolean =>
  actor.kind === 'operator' || (actor.kind === 'session' && actor.is_administrator)

/**
 * `onRequest` hooks that set `request.actor` before the body is read. Anonymous callers get 401 `unauthenticated`, known
 * callers of the wrong kind 403 `forbidden`.
 * @param actorOrRemembered identifies the caller where an expired guest token is accepted
 */
export function createCallers(actorOf: ActorOf, actorOrRemembered: ActorOf = actorOf): Callers {
  const allowing =
    (isAllowed: (actor: Actor) => boolean, required: string, find = actorOf): Hook =>
    async (request) => {
      const onInvalid = () => {
        request.invalidCredentials += 1
      }
      const actor = await find({ headers: request.headers, query: request.query, onInvalid })
      request.actor = actor
      if (!isAllowed(actor)) throw accessError(actor, required)
    }
  const isKnown = ({ kind }: Actor) => kind !== 'anonymous'
  const known = 'A session or guest token'
  return {
    anyone: allowing(() => true, 'A credential'),
    sessionOrGuest: allowing(isKnown, known),
    sessionOrRememberedGuest: allowing(isKnown, known, actorOrRemembered),
    session: allowing(({ kind }) => kind === 'session', 'A session'),
    administrator: allowing(isAdministrator, 'An administrator session'),
  }
}

function accessError(actor: Actor, required: string): DomainError {
  return actor.kind === 'anonymous' ? unauthenticatedError() : new DomainError('forbidden', `${required} is required`)
}

function unauthenticatedError(): DomainError {
  return new DomainError('unauthenticated', 'A credential is required')
}

export type KnownActor = Session | Guest

/**
 * The caller of a route, as the owner of something.
 * @throws DomainError `unauthenticated` if the route has no hook: it fails closed
 */
export function knownActor(actor: Actor): KnownActor {
  if (actor.kind === 'anonymous' || actor.kind === 'operator') throw unauthenticatedError()
  return actor
}
