// What the filters of lists have in common: the schemas of their values, and conditions.
import { foldEmail } from '@paylog/domain/actor'
import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Sql } from './runQuery.ts'
import { containsPattern, foldedGuestEmail } from './textFilters.ts'
import { timeBound } from './timeBounds.ts'

/** A whole value. */
export const ExactText = Type.String({
  minLength: 1,
  maxLength: 255,
  // Postgres rejects NUL, and no value has control characters that a search could not have.
  pattern: '^[^\\u0000]*$',
})

export const SearchText = Type.String({
  maxLength: 255,
  // Control characters never match, and U+001F separates the searched texts.
  pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f]*$',
})

/** Whether something is required, or excluded. */
export const Flag = Type.Enum(['true', 'false'])

export const isContained = (search: string): Sql | undefined =>
  search === '' ? undefined : sql`search_text like ${containsPattern(search)}`

/** Of the whole e-mail, ignoring the case of ASCII letters. */
export const hasGuestEmail = (email: string): Sql => sql`${sql.raw(foldedGuestEmail)} = ${foldEmail(email)}`

/** Rows have times in whole milliseconds. Both bounds are exclusive. @throws DomainError `invalid_request` for an impossible time */
export const isCreatedAfter = (time: string): Sql => sql`created_at > ${timeBound('created_at_from', time, Math.floor)}`
export const isCreatedBefore = (time: string): Sql => sql`created_at < ${timeBound('created_at_to', time, Math.ceil)}`
