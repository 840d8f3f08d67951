// Keeps whose a guest token was, so that the guest can still be recognised shortly after it expired.
import { foldEmail, type Guest } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import { guestTokenFold, recordGuestTokenUse, rememberedEmail } from '@paylog/domain/guestToken'
import type { EventStore } from '@paylog/event-store/eventStore'
import { guestTokenStream } from '@paylog/event-store/streamName'
import type { EmailOfToken } from '@paylog/identity/identity'

/** @param occurred_at when the identity backend said that the token is valid */
export async function rememberGuestToken(
  store: EventStore,
  { token_hash, guest_email }: Guest,
  occurred_at: string,
  metadata: EventMetadata,
): Promise<void> {
  await store.handle({
    stream: guestTokenStream(token_hash),
    fold: guestTokenFold,
    decide: (known) => recordGuestTokenUse(known, { guest_email, occurred_at }),
    metadata,
  })
}

// Looks up whose a guest token was that the identity backend does not find valid any more (interface, section 5, rule 6).

/**
 * @param options `maxAgeMs` is how long a token is known after it was last seen valid
 * @returns what gives the e-mail of a token by its hash; it throws DomainError `event_store_unavailable`
 */
export function rememberedGuest(options: {
  readonly store: EventStore
  readonly maxAgeMs: number
  readonly now: () => Date
}): EmailOfToken {
  return async (tokenHash) => {
    const { state } = await options.store.load(guestTokenStream(tokenHash), guestTokenFold)
    return rememberedEmail(state, options.now(), options.maxAgeMs)
  }
}

// A guest token speaks for its own e-mail alone.

/**
 * @param email as the body has it, which is not validated yet; what is no text is left to validation
 * @param where the body has it
 * @throws DomainError `forbidden`
 */
export function requireOwnEmail({ guest_email }: Guest, email: unknown, where: string): void {
  if (typeof email === 'string' && foldEmail(email) !== foldEmail(guest_email))
    throw new DomainError('forbidden', `The guest token belongs to another e-mail than ${where}`)
}
