// Remembers valid guest tokens, so that an expired token can still identify its guest.
import { Type } from 'typebox'
import { foldEmail, guestOwner } from './actor.ts'
import type { EventsOf } from './events.ts'
import { Instant } from './fields.ts'
import { PersonalText, type Subject, subjectNamed } from './personalData.ts'

export const guestTokenEvents = {
  GuestTokenSeen: Type.Object({ guest_email: PersonalText, occurred_at: Instant }),
}
export type GuestTokenEvent = EventsOf<typeof guestTokenEvents>

export type SeenGuestToken = {
  /** Null when the guest was erased. */
  readonly guest_email: string | null
  /** When it was last seen valid. */
  readonly seen_at: string
  /** It was seen with more than one e-mail, so it no longer identifies a guest. */
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
  subjectOf: (known: SeenGuestToken | null): Subject | null =>
    subjectNamed(known?.guest_email ? guestOwner(known.guest_email) : null),
}

/** Compares e-mails regardless of case. One that was erased is equal to any. */
function isSeenWith({ guest_email: known }: SeenGuestToken, guestEmail: string | null): boolean {
  return known === null || guestEmail === null || foldEmail(known) === foldEmail(guestEmail)
}

/** We do not record a token again within this time. */
const freshMs = 60_000
/** How far the clocks of two servers may differ. */
const clockSkewMs = 60_000

/**
 * Records that the token was valid, unless it was recorded recently.
 * @param seen its e-mail, and the time
 */
export function recordGuestTokenUse(
  known: SeenGuestToken | null,
  seen: GuestTokenEvent['data'],
): readonly GuestTokenEvent[] {
  const isNew =
    known === null ||
    // A wrong clock may have recorded a time far ahead, so the distance counts in both directions.
    Math.abs(Date.parse(seen.occurred_at) - Date.parse(known.seen_at)) >= freshMs ||
    known.guest_email === null ||
    !(known.is_ambiguous || isSeenWith(known, seen.guest_email))
  return isNew ? [{ type: 'GuestTokenSeen', data: seen }] : []
}

/**
 * The e-mail of a token that the identity backend rejects (interface, section 5, rule 6).
 *
 * @param maxAgeMs how long we remember a token after it was last valid; 0 disables this
 * @returns undefined for a token that was never seen, was last seen too long ago or at a future time, or was seen with two
 *   e-mails
 */
export function rememberedEmail(known: SeenGuestToken | null, now: Date, maxAgeMs: number): string | undefined {
  if (known === null || known.guest_email === null || known.is_ambiguous) return undefined
  const ageMs = now.getTime() - Date.parse(known.seen_at)
  return ageMs >= -clockSkewMs && Math.max(ageMs, 0) < maxAgeMs ? known.guest_email : undefined
}
