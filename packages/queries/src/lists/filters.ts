// Filters: the query parameters that restrict lists. What several lists have, with the schemas of its values.
import { foldEmail, userOwner } from '@paylog/domain/actor'
import type { DomainError } from '@paylog/domain/errors'
import { Id, Instant } from '@paylog/domain/fields'
import { foldCase, foldedGuestEmail } from '@paylog/projections/searchText'
import { invalidInput } from '@paylog/runtime/http/validation'
import type { Parameter } from '@paylog/runtime/postgres/runQuery'
import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely'
import { type Static, type TSchema, Type } from 'typebox'
import { type Item, readModels, type View, type Views } from '../readModels.ts'

/** A query parameter that restricts a list. */
export type Filter<Of extends View = never> = {
  readonly schema: TSchema
  /** @returns what `where` gets; undefined for a value that does not restrict */
  read(value: unknown): unknown
  where(value: unknown): Expression<SqlBool>
  /** Never set. It carries the views that have the columns. */
  readonly of?: (view: Of) => void
}

type ColumnWith<Of extends View, Value> = {
  [Name in keyof Views[Of]]: Value extends Views[Of][Name] ? Name : never
}[keyof Views[Of]] &
  string

/**
 * @param where the column that has the value, or the condition
 * @param read returns undefined for a value that does not restrict
 */
export const filter = <Schema extends TSchema, Of extends View>(
  schema: Schema,
  description: string,
  where: ColumnWith<Of, Static<Schema>> | ((item: Item<Of>, value: Parameter<Static<Schema>>) => Expression<SqlBool>),
  read: (value: Static<Schema>) => Static<Schema> | undefined = (value) => value,
): Filter<Of> => ({
  schema: Type.Optional(Type.With(schema, { description })),
  read: (value) => read(value as Static<Schema>),
  where: (value) =>
    typeof where === 'string'
      ? sql`${sql.ref(`item.${where}`)} = ${value}`
      : where(expressionBuilder(), value as Parameter<Static<Schema>>),
})

/** Only rows for which something is true, or only the others. */
export const flag = <Of extends View>(
  description: string,
  isTrue: (item: Item<Of>) => Expression<SqlBool>,
): Filter<Of> => ({
  schema: Type.Optional(Type.Enum(['true', 'false'], { description })),
  read: (value) => value === 'true',
  where: (value) => sql`(${isTrue(expressionBuilder())}) = ${sql.lit(value)}`,
})

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
    (search) => search || undefined,
  )

/** Of the whole e-mail, ignoring the case of ASCII letters. */
export const hasGuestEmail = (email: Parameter<string>) =>
  sql<SqlBool>`${sql.raw(foldedGuestEmail)} = ${email.as(foldEmail)}`

/** An owner's rows that are not removed. A literal, not a parameter: a prepared plan could not use the partial index. */
export const isKeptOf = (item: Item<'payment_methods' | 'addresses'>, owner: Parameter<string>) =>
  item.and([item('owner', '=', owner), item.not('is_removed')])

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

type Money = Item<'payments' | 'refunds' | 'disputes'>

export const Currency = Type.String({ pattern: '^[A-Za-z]{3}$' })

/** Filters of every list of money. @param what is listed, such as payments */
export const moneyFilters = (what: string) => ({
  provider_id: filter(ExactText, `Only ${what} of this provider`, (item: Money, id) => item('provider_id', '=', id)),
  currency: filter(Currency, `Only ${what} in this currency`, (item: Money, code) =>
    item('currency', '=', sql<string>`upper(${code})`),
  ),
  created_at_from: filter(
    Instant,
    `Only ${what} created after this time, with a UTC offset (encode + as %2B)`,
    isCreatedAfter,
  ),
  created_at_to: filter(Instant, `Only ${what} created before this time, with a UTC offset`, isCreatedBefore),
})

/** @param what belongs to payments, such as refunds */
export const ofPayment = (what: string) =>
  filter(Id, `Only ${what} of this payment`, (item: Item<'refunds' | 'disputes'>, id) => item('payment_id', '=', id))

/** By the payer of the payments that they belong to. @param what belongs to payments, such as refunds */
export const ofPayer = (what: string) => {
  type OfPayment = Item<'refunds' | 'disputes'>
  const payments = () => readModels.selectFrom('read_models.payments as item').select('item.id')
  return {
    user_id: filter(ExactText, `Only ${what} of payments of this user`, (item: OfPayment, id) =>
      item('payment_id', 'in', payments().where('item.owner', '=', id.as(userOwner))),
    ),
    guest_email: filter(
      ExactText,
      `Only ${what} of payments with this guest e-mail, ignoring the case of ASCII letters`,
      (item: OfPayment, email) => item('payment_id', 'in', payments().where(hasGuestEmail(email))),
    ),
  }
}

export function invalidQuery(field: string, message: string): DomainError {
  return invalidInput('querystring', [{ field, message }])
}
