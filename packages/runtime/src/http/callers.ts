// Access control for routes: hooks that identify the caller and reject the wrong kind.
import type { IncomingHttpHeaders } from 'node:http'
import { type Actor, type Guest, grantedRights, hasRight, type Session } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import type { Right } from '@paylog/domain/rights'
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
export type CallerKind = Exclude<keyof Callers, 'withRight'> | 'public' | 'providers'

type Hook = onRequestAsyncHookHandler
export type Callers = Readonly<Record<'anyone' | 'sessionOrGuest' | 'sessionOrRememberedGuest' | 'session', Hook>> & {
  /** For callers who have one of these rights. */
  withRight(anyOf: readonly Right[]): Hook
}

/** The credentials of a route, for the OpenAPI document; undefined for none. */
export function securityOf(kind: CallerKind): readonly Readonly<Record<string, readonly string[]>>[] | undefined {
  if (kind === 'public' || kind === 'providers') return undefined
  if (kind === 'session') return [{ session: [] }]
  const known = [{ session: [] }, { guest: [] }]
  return kind === 'anyone' ? [{}, ...known] : known
}

/**
 * For a right that depends on the request, beside that of its route: a list as a file needs `export` too.
 * @throws DomainError `forbidden`, with `details.right`
 */
export function requireRight(actor: Actor, right: Right): void {
  if (!hasRight(actor, right)) throw missingRight([right])
}

/**
 * The error for a resource that the caller does not own, whether it exists or not: who has other rights learns which one is missing,
 * to customers it does not exist.
 */
export function notOwned(actor: Actor, right: Right, notFound: DomainError): DomainError {
  const isCustomer = grantedRights(actor).rights.length === 0
  return isCustomer || hasRight(actor, right) ? notFound : missingRight([right])
}

/** How a right reads of which any is enough. */
export const nameOfRights = (anyOf: readonly Right[]): string => anyOf.join(' or ')

function missingRight(anyOf: readonly Right[]): DomainError {
  const right = nameOfRights(anyOf)
  return new DomainError('forbidden', `The right ${right} is required`, { right })
}

/**
 * `onRequest` hooks that set `request.actor` before the body is read. Anonymous callers get 401 `unauthenticated`, known
 * callers of the wrong kind 403 `forbidden`.
 * @param actorOrRemembered identifies the caller where an expired guest token is accepted
 */
export function createCallers(actorOf: ActorOf, actorOrRemembered: ActorOf = actorOf): Callers {
  const checking =
    (check: (actor: Actor) => DomainError | undefined, find = actorOf): Hook =>
    async (request) => {
      const onInvalid = () => {
        request.invalidCredentials += 1
      }
      const actor = await find({ headers: request.headers, query: request.query, onInvalid })
      request.actor = actor
      const error = check(actor)
      if (error !== undefined) throw actor.kind === 'anonymous' ? unauthenticatedError() : error
    }
  const allowing = (isAllowed: (actor: Actor) => boolean, required: string, find = actorOf) =>
    checking((actor) => (isAllowed(actor) ? undefined : new DomainError('forbidden', `${required} is required`)), find)
  const isKnown = ({ kind }: Actor) => kind !== 'anonymous'
  const known = 'A session or guest token'
  return {
    anyone: allowing(() => true, 'A credential'),
    sessionOrGuest: allowing(isKnown, known),
    sessionOrRememberedGuest: allowing(isKnown, known, actorOrRemembered),
    session: allowing(({ kind }) => kind === 'session', 'A session'),
    withRight: (anyOf) =>
      checking((actor) => (anyOf.some((right) => hasRight(actor, right)) ? undefined : missingRight(anyOf))),
  }
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
