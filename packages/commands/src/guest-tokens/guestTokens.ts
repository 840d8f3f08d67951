// Remembers which e-mail a guest token belonged to, so that the guest is still recognised shortly after the token expires
// (interface, section 5, rule 6).
import { randomUUIDv7 } from 'node:crypto'
import { foldEmail, type Guest } from '@paylog/domain/actor'
import { DomainError } from '@paylog/domain/errors'
import type { EventMetadata } from '@paylog/domain/events'
import { guestTokenFold, recordGuestTokenUse, rememberedEmail } from '@paylog/domain/guestToken'
import { paymentFold } from '@paylog/domain/payments/fold'
import type { EventStore } from '@paylog/event-store/eventStore'
import { guestTokenStream, paymentStream } from '@paylog/event-store/streamName'
import type { EmailOfToken } from '@paylog/identity/identity'
import type { TokenRead } from '@paylog/runtime/postgres/tokenReads'

type Remembering = { readonly store: EventStore; readonly maxAgeMs: number; readonly now: () => Date }

/** @param occurred_at when the identity backend confirmed the token */
export async function rememberGuestToken(
  store: EventStore,
  { token_hash, guest_email }: Guest,
  occurred_at: string,
  metadata: EventMetadata,
): Promise<void> {
  await store.handle({
    stream: guestTokenStream(token_hash),
    fold: guestTokenFold,
    decide: (current) => recordGuestTokenUse(current, { guest_email, occurred_at }),
    metadata,
  })
}

/**
 * Remembers a token that was valid when it read a payment, unless it is remembered already: once for as long as that lasts.
 * @throws DomainError `event_store_unavailable`
 */
export async function rememberReadingToken(
  { store, maxAgeMs, now }: Remembering,
  { token_hash, payment_id }: TokenRead,
): Promise<void> {
  const { state } = await store.load(paymentStream(payment_id), paymentFold)
  const guest_email = state.status === 'none' ? null : state.guest_email
  if (guest_email === null) return
  const seen = { guest_email, occurred_at: now().toISOString() }
  const id = randomUUIDv7()
  await store.handle({
    stream: guestTokenStream(token_hash),
    fold: guestTokenFold,
    decide: (current) =>
      rememberedEmail(current, now(), maxAgeMs) === undefined && !current?.is_ambiguous
        ? recordGuestTokenUse(current, seen)
        : [],
    metadata: { correlationId: id, causationId: id, actor: 'guest' },
  })
}

/**
 * @param options `maxAgeMs` is how long a token is remembered after it was last seen valid
 * @returns a lookup from token hash to e-mail, which throws DomainError `event_store_unavailable`
 */
export function rememberedGuest(options: Remembering): EmailOfToken {
  return async (tokenHash) => {
    const { state } = await options.store.load(guestTokenStream(tokenHash), guestTokenFold)
    return rememberedEmail(state, options.now(), options.maxAgeMs)
  }
}

/**
 * Rejects a body that names another e-mail than the guest token's.
 * @param email from the body, not validated yet; a value that is not a string is left to validation
 * @param field the field that contains it
 * @throws DomainError `forbidden`
 */
export function requireOwnEmail({ guest_email }: Guest, email: unknown, field: string): void {
  if (typeof email === 'string' && foldEmail(email) !== foldEmail(guest_email))
    throw new DomainError('forbidden', `The guest token belongs to another e-mail than ${field}`)
}
