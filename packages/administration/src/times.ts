// Times in requests.
import { invalidInput } from '@paylog/runtime/http/validation'

/** @throws DomainError `invalid_request` for a leap second, which passes the format check but does not parse */
export function timeOf(part: 'body' | 'querystring', field: string, text: string): Date {
  const time = new Date(text)
  if (Number.isNaN(time.getTime())) throw invalidInput(part, [{ field, message: 'must be a time' }])
  return time
}
