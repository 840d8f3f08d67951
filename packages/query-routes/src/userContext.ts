// Which caller a list is for, as the list itself tells it (interface, section 4.2).
import { DomainError } from '@paylog/domain/errors'
import { Nullable } from '@paylog/domain/fields'
import { guestOwner, ownerOf } from '@paylog/domain/owner'
import type { KnownActor } from '@paylog/runtime/http/callers'
import type { onRequestAsyncHookHandler } from 'fastify'
import { type Static, Type } from 'typebox'

export const UserContext = Type.Object({
  authenticated: Type.Boolean(),
  user_id: Nullable(Type.String()),
  user_type: Type.String(),
  user_email: Nullable(Type.String()),
  search_method: Type.Enum(['user_id', 'guest_email']),
})
export type UserContext = Static<typeof UserContext>

export function userContext(actor: KnownActor): UserContext {
  if (actor.kind === 'guest') {
    return {
      authenticated: false,
      user_id: null,
      user_type: 'guest',
      user_email: actor.guest_email,
      search_method: 'guest_email',
    }
  }
  const { user_id, user_type, user_email } = actor
  return { authenticated: true, user_id, user_type, user_email, search_method: 'user_id' }
}

/** An `onRequest` hook behind `sessionOrGuest`: a guest that names another guest's e-mail is refused, not answered with nothing. */
export const ownEmailOnly: onRequestAsyncHookHandler = async ({ actor, query }) => {
  if (actor.kind !== 'guest' || typeof query !== 'object' || query === null || !('guest_email' in query)) return
  const { guest_email } = query
  // A repeated parameter is not text; validation refuses it.
  if (typeof guest_email === 'string' && guestOwner(guest_email) !== ownerOf(actor))
    throw new DomainError('forbidden', 'A guest token gives access to its own e-mail only')
}
