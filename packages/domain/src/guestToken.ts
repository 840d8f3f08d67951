// That a guest token was seen valid, and whose it was: the payment history that outlives the token.
import { Type } from 'typebox'
import { foldEmail } from './actor.ts'
import type { EventsOf } from './events.ts'
import { Email, Instant } from './fields.ts'

export const guestTokenEvents = {
  GuestTokenSeen: Type.Object({ guest_email: Email, occurred_at: Instant }),
}
export type GuestTokenEvent = EventsOf<typeof guestTokenEvents>

/** What is on record about a token. */
export type SeenGuestToken = {
  readonly guest_email: string
  /** When it was last seen valid. */
  readonly seen_at: string
  /** It was seen with more than one e-mail: what it says about its holder can be believed no more. */
  readonly is_ambiguous: boolean
}

export const guestTokenFold = {
  initialState: null as SeenGuestToken | null,
  evolve(known: SeenGuestToken | null, { data }: GuestTokenEvent): SeenGuestToken {
    const { guest_email, occurred_at: seen_at } = data
    return {
      guest_email,
      seen_at,
      is_ambiguous: known !== null && (known.is_ambiguous || !isSeenWith(known, guest_email)),
    }
  },
}

/** Whether the token was last seen with this e-mail, whatever its case. */
function isSeenWith(known: SeenGuestToken, guestEmail: string): boolean {
  return foldEmail(known.guest_email) === foldEmail(guestEmail)
}

// What is recorded of guest tokens, and whom an expired one still speaks for.

/** A token that was seen so recently is not recorded again: many requests with one token add nothing to one. */
const freshMs = 60_000
/** The clocks of two servers may be apart by this. */
const clockSkewMs = 60_000

/**
 * The token was valid just now.
 * @param seen whose it was and when
 */
export function recordGuestTokenUse(
  known: SeenGuestToken | null,
  seen: GuestTokenEvent['data'],
): readonly GuestTokenEvent[] {
  const isNew =
    known === null ||
    // A clock that was wrong may have left a time far ahead, so the distance counts in both directions.
    Math.abs(Date.parse(seen.occurred_at) - Date.parse(known.seen_at)) >= freshMs ||
    !(known.is_ambiguous || isSeenWith(known, seen.guest_email))
  return isNew ? [{ type: 'GuestTokenSeen', data: seen }] : []
}

/**
 * The e-mail that a token stands for although the identity backend finds it invalid (interface, section 5, rule 6).
 *
 * @param maxAgeMs how long a token is known after it was last seen valid; 0 is not at all
 * @returns nothing for a token that was never seen, too long ago, with two e-mails, or at a time that has not come yet:
 *   who knows how old that one is
 */
export function rememberedEmail(known: SeenGuestToken | null, now: Date, maxAgeMs: number): string | undefined {
  if (known === null || known.is_ambiguous) return undefined
  const ageMs = now.getTime() - Date.parse(known.seen_at)
  return ageMs >= -clockSkewMs && Math.max(ageMs, 0) < maxAgeMs ? known.guest_email : undefined
}
