// Lenient access to objects of any shape. The objects of notifications are read so, because an unexpected field is no reason
// to reject a notification that the provider has signed.
import { DomainError } from '@paylog/domain/errors'
import { Email, StatedEmail } from '@paylog/domain/fields'
import { Compile } from 'typebox/compile'
import { Amount, Code, UnixTime } from './fields.ts'

const code = Compile(Code)
const amount = Compile(Amount)
const email = Compile(StatedEmail)
const typedEmail = Compile(Email)
const unixTime = Compile(UnixTime)

type Path = readonly (string | number)[]

/** The value at a path; `undefined` when a step is missing. Without a path, the value itself. */
export function valueAt(value: unknown, ...path: Path): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = Object.hasOwn(found, step) ? Reflect.get(found, step) : undefined
  }
  return found
}

/** The object at a path; an empty one when there is none, or when it is a list. */
export function objectAt(value: unknown, ...path: Path): Readonly<Record<string, unknown>> {
  const found = valueAt(value, ...path)
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? { ...found } : {}
}

/**
 * The id or the type of an event, without which it is unusable.
 * @throws DomainError `invalid_request`
 */
export function requiredCodeAt(event: unknown, key: string): string {
  const found = codeAt(event, key)
  if (found === null)
    throw new DomainError('invalid_request', `The event is not valid: /${key} is missing or malformed`)
  return found
}

/** An id or code. */
export function codeAt(value: unknown, ...path: Path): string | null {
  const found = valueAt(value, ...path)
  return code.Check(found) ? found : null
}

export function emailAt(value: unknown, ...path: Path): string | null {
  const found = valueAt(value, ...path)
  return email.Check(found) ? found : null
}

/** An e-mail that providers accept as well; others are left out of what they get. */
export const emailForProvider = (email: string | null): string | null => (typedEmail.Check(email) ? email : null)

/** An amount in the provider's own unit. */
export function unitsAt(value: unknown, ...path: Path): number | null {
  const found = valueAt(value, ...path)
  return amount.Check(found) ? found : null
}

/** A time that is written as text, as ISO 8601 in UTC. Zero, the beginning of 1970, is no time. */
export function instantAt(value: unknown, ...path: Path): string | null {
  const found = valueAt(value, ...path)
  // Date.parse would read a bare number as a year.
  const time = typeof found === 'string' && /^\d{4}-\d\d-\d\d/.test(found) ? Date.parse(found) : Number.NaN
  return unixTime.Check(Math.floor(time / 1000)) ? new Date(time).toISOString() : null
}

/** A time in Unix seconds, as ISO 8601. */
export function unixTimeAt(value: unknown, ...path: Path): string | null {
  const found = valueAt(value, ...path)
  return unixTime.Check(found) ? isoTime(found) : null
}

function isoTime(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString()
}

/** The time of an event: that of its reading, when the event has none. */
export const timeOfReading = (): string => new Date().toISOString()
