// That a guest token was seen valid, and whose it was: the payment history that outlives the token.
import { Type } from 'typebox'
import { Email, Instant } from '../fields.ts'
import type { EventsOf } from '../messages.ts'

export const guestTokenEvents = {
  GuestTokenSeen: Type.Object({ guest_email: Email, occurred_at: Instant }),
}
export type GuestTokenEvent = EventsOf<typeof guestTokenEvents>

/** When a token was last seen valid. */
export const guestTokenFold = {
  initialState: null as string | null,
  evolve(_lastSeen: string | null, event: GuestTokenEvent): string | null {
    return event.data.occurred_at
  },
}
