// That a guest token was seen valid, and whose it was: the payment history that outlives the token.
import { Type } from 'typebox'
import { Email, Instant } from '../fields.ts'
import type { EventsOf } from '../messages.ts'
import { foldEmail } from '../owner.ts'

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
export function isSeenWith(known: SeenGuestToken, guestEmail: string): boolean {
  return foldEmail(known.guest_email) === foldEmail(guestEmail)
}
