// How text is searched without case: the same on the side of the rows and of the question.
import { foldEmail } from '@paylog/domain/actor'
import { type RawBuilder, sql } from 'kysely'
import type { Placeholder } from './namedQuery.ts'

/**
 * Text in lower case, letter by letter. A word's last sigma alone would be written differently from one inside (Unicode,
 * SpecialCasing.txt), and a part of the word would not be found in it.
 */
export function foldCase(text: string): string {
  return text.replaceAll('Σ', 'σ').toLowerCase()
}

/** The pattern for a substring of folded text: what has a meaning in a pattern stands for itself. */
export function containsPattern(search: string): string {
  return `%${foldCase(search).replaceAll(/[\\%_]/g, '\\$&')}%`
}

// Lists of every kind are filtered by the recorded `guest_email` in the same way.

/** What `foldEmail` does, in SQL. */
const foldedGuestEmail = sql`translate(guest_email, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')`

export function guestEmailEquals(email: Placeholder<string>): RawBuilder<boolean> {
  return sql<boolean>`${foldedGuestEmail} = ${email.through(foldEmail)}`
}
