// Keeps whose a guest token was, so that the guest can still be recognised shortly after it expired.
import type { Guest } from '@paylog/domain/actor'
import { type GuestTokenEvent, guestTokenFold } from '@paylog/domain/guest-tokens/events'
import type { EventMetadata } from '@paylog/domain/messages'
import type { EventStore } from '@paylog/event-store/eventStore'
import { guestTokenStream } from '@paylog/event-store/streamName'

/** A token that was seen so recently is not recorded again: many requests with one token add nothing to one. */
const freshMs = 60_000

/** @param occurred_at when the identity backend said that the token is valid */
export async function rememberGuestToken(
  store: EventStore,
  { token_hash, guest_email }: Guest,
  occurred_at: string,
  metadata: EventMetadata,
): Promise<void> {
  await store.handle<string | null, GuestTokenEvent>({
    stream: guestTokenStream(token_hash),
    fold: guestTokenFold,
    decide: (lastSeen) =>
      lastSeen !== null && Date.parse(occurred_at) - Date.parse(lastSeen) < freshMs
        ? []
        : [{ type: 'GuestTokenSeen', data: { guest_email, occurred_at } }],
    metadata,
  })
}
