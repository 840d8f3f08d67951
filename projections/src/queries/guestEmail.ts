// Lists of every kind are filtered by the recorded `guest_email` in the same way.
import { foldEmail } from '@paylog/domain/owner'
import { type RawBuilder, sql } from 'kysely'
import type { Placeholder } from './namedQuery.ts'

/** What `foldEmail` does, in SQL. */
const folded = sql`translate(guest_email, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')`

export function guestEmailIs(email: Placeholder<string>): RawBuilder<boolean> {
  return sql<boolean>`${folded} = ${email.through(foldEmail)}`
}
