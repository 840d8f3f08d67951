// What the filters of lists have in common: the schemas of their values, and conditions.
import { foldEmail } from '@paylog/domain/actor'
import type { DomainError } from '@paylog/domain/errors'
import { foldCase, foldedGuestEmail } from '@paylog/projections/searchText'
import { invalidInput } from '@paylog/runtime/http/validation'
import type { Parameter } from '@paylog/runtime/postgres/runQuery'
import { type SqlBool, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { condition, filter, type Item, type View } from './defineList.ts'

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

/** Of a parameter that is a flag. */
export const isSet = (flag: Static<typeof Flag>) => flag === 'true'

/** The pattern for a substring of folded text, with escaped wildcards. */
function containsPattern(search: string): string {
  return `%${foldCase(search).replaceAll(/[\\%_]/g, '\\$&')}%`
}

/** Of the searched text of a row. An empty search finds everything. */
export const searchFilter = (description: string) =>
  filter(
    SearchText,
    description,
    (item: Item<'payments' | 'products'>, search) => item('search_text', 'like', search.as(containsPattern)),
    (search) => (search === '' ? undefined : ''),
  )

/** Of the whole e-mail, ignoring the case of ASCII letters. */
export const hasGuestEmail = (_: Item<'payments' | 'payment_methods' | 'addresses'>, email: Parameter<string>) =>
  sql<SqlBool>`${sql.raw(foldedGuestEmail)} = ${email.as(foldEmail)}`

/** An owner's rows that are not removed. A literal, not a parameter: a prepared plan could not use the partial index. */
export const isKeptOf = condition((item: Item<'payment_methods' | 'addresses'>, owner: Parameter<string>) =>
  item.and([item('owner', '=', owner), item.not('is_removed')]),
)

type Created = Item<Exclude<View, 'defaults'>>

/** Both bounds are exclusive. @throws DomainError `invalid_request` for an impossible time */
export const isCreatedAfter = (item: Created, time: Parameter<string>) =>
  item('created_at', '>', sql<string>`${time.as((text) => timeBound('created_at_from', text, Math.floor))}`)
export const isCreatedBefore = (item: Created, time: Parameter<string>) =>
  item('created_at', '<', sql<string>`${time.as((text) => timeBound('created_at_to', text, Math.ceil))}`)

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
