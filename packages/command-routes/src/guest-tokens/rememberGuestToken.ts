// Keeps whose a guest token was, so that the guest can still be recognised shortly after it expired.
import type { Guest } from '@paylog/domain/actor'
import { guestTokenFold } from '@paylog/domain/guest-tokens/events'
import { recordGuestTokenUse } from '@paylog/domain/guest-tokens/guestToken'
import type { EventMetadata } from '@paylog/domain/messages'
import type { EventStore } from '@paylog/event-store/eventStore'
import { guestTokenStream } from '@paylog/event-store/streamName'

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
