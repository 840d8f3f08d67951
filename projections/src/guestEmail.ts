// Lists of every kind are filtered by the recorded `guest_email` in the same way.
import { foldEmail } from '@paylog/domain/owner'
import { type RawBuilder, sql } from 'kysely'

/** What `foldEmail` does, in SQL. */
const folded = sql`translate(guest_email, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')`

export function guestEmailIs(email: string): RawBuilder<boolean> {
  return sql<boolean>`${folded} = ${foldEmail(email)}`
}
