// Times in queries.

import type { DomainError } from '@paylog/domain/errors'
import { invalidInput } from '@paylog/runtime/http/validation'

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
