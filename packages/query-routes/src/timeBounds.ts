// Times in queries.
import { DomainError } from '@paylog/domain/errors'
import { Instant } from '@paylog/domain/fields'
import { Type } from 'typebox'

export const createdFrom = Type.Optional(
  Type.With(Instant, {
    description: 'Only payments created after this time, with a UTC offset (encode + as %2B)',
  }),
)
export const createdTo = Type.Optional(
  Type.With(Instant, { description: 'Only payments created before this time, with a UTC offset' }),
)

/**
 * Payments have times in whole milliseconds. Rounds a bound between two of them so that the result stays correct.
 * @throws DomainError `invalid_request` for an impossible time
 */
export function timeBound(
  field: string,
  text: string | undefined,
  toWhole: (milliseconds: number) => number,
): Date | undefined {
  if (text === undefined) return undefined
  const whole = Date.parse(text)
  // A leap second matches the format, but Date cannot represent it.
  if (Number.isNaN(whole)) throw invalidQuery(field, 'must be a time')
  const beyond = /\.\d{3}(\d+)/.exec(text)?.[1] ?? '0'
  return new Date(whole + toWhole(Number(`0.${beyond}`)))
}

export function invalidQuery(field: string, message: string): DomainError {
  return new DomainError('invalid_request', `The query is invalid: ${field} ${message}`, {
    fields: [{ field, message }],
  })
}
