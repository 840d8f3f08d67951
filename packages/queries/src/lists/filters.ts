// What the filters of lists have in common: the schemas of their values, and conditions.
import { foldEmail } from '@paylog/domain/actor'
import type { DomainError } from '@paylog/domain/errors'
import { foldCase, foldedGuestEmail } from '@paylog/projections/searchText'
import { invalidInput } from '@paylog/runtime/http/validation'
import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Sql } from './runQuery.ts'

/** A whole value. */
export const ExactText = Type.String({
  minLength: 1,
  maxLength: 255,
  // Postgres rejects NUL, and no value has control characters that a search could not have.
  pattern: '^[^\\x00]*$',
})

export const SearchText = Type.String({
  maxLength: 255,
  // Control characters never match, and U+001F separates the searched texts.
  pattern: '^[^\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]*$',
})

/** Whether something is required, or excluded. */
export const Flag = Type.Enum(['true', 'false'])

/** The pattern for a substring of folded text, with escaped wildcards. */
function containsPattern(search: string): string {
  return `%${foldCase(search).replaceAll(/[\\%_]/g, '\\$&')}%`
}

export const isContained = (search: string): Sql | undefined =>
  search === '' ? undefined : sql`search_text like ${containsPattern(search)}`

/** Of the whole e-mail, ignoring the case of ASCII letters. */
export const hasGuestEmail = (email: string): Sql => sql`${sql.raw(foldedGuestEmail)} = ${foldEmail(email)}`

/** Rows have times in whole milliseconds. Both bounds are exclusive. @throws DomainError `invalid_request` for an impossible time */
export const isCreatedAfter = (time: string): Sql => sql`created_at > ${timeBound('created_at_from', time, Math.floor)}`
export const isCreatedBefore = (time: string): Sql => sql`created_at < ${timeBound('created_at_to', time, Math.ceil)}`

/**
 * Rows have times in whole milliseconds. Rounds a bound between two of them so that the result stays correct.
 * @throws DomainError `invalid_request` for an impossible time
 */
export function timeBound(field: string, text: string, toWhole: (milliseconds: number) => number): Date {
  const whole = Date.parse(text)
  // A leap second matches the format, but Date cannot represent it.
  if (Number.isNaN(whole)) throw invalidQuery(field, 'must be a time')
  const beyond = /\.\d{3}(\d+)/.exec(text)?.[1] ?? '0'
  return new Date(whole + toWhole(Number(`0.${beyond}`)))
}

export function invalidQuery(field: string, message: string): DomainError {
  return invalidInput('querystring', [{ field, message }])
}
