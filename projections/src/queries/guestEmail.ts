// Lists of every kind are filtered by the recorded `guest_email` in the same way.
import { foldEmail } from '@paylog/domain/owner'
import { type RawBuilder, sql } from 'kysely'
import type { Placeholder } from './namedQuery.ts'

/** What `foldEmail` does, in SQL. */
const foldedGuestEmail = sql`translate(guest_email, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')`

export function guestEmailEquals(email: Placeholder<string>): RawBuilder<boolean> {
  return sql<boolean>`${foldedGuestEmail} = ${email.through(foldEmail)}`
}
