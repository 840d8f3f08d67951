// Looks up whose a guest token was that the identity backend does not find valid any more (interface, section 5, rule 6).
import { guestTokenFold } from '@paylog/domain/guest-tokens/events'
import { rememberedEmail } from '@paylog/domain/guest-tokens/guestToken'
import type { EventStore } from '@paylog/event-store/eventStore'
import { guestTokenStream } from '@paylog/event-store/streamName'
import type { EmailOfToken } from '@paylog/identity/identity'

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
