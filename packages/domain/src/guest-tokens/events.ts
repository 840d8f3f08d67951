// That a guest token was seen valid, and whose it was: the payment history that outlives the token.
import { Type } from 'typebox'
import { Email, Instant } from '../fields.ts'
import type { EventsOf } from '../messages.ts'

export const guestTokenEvents = {
  GuestTokenSeen: Type.Object({ guest_email: Email, occurred_at: Instant }),
}
export type GuestTokenEvent = EventsOf<typeof guestTokenEvents>
