// The text of a notification: an envelope that every one has, around an object that differs with its type.
import { DomainError } from '@paylog/domain/errors'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code } from '../fields.ts'
import { notificationJson } from '../notificationJson.ts'
import { Money, toCents } from './amounts.ts'

const Envelope = Type.Object({
  id: Code,
  event_type: Code,
  create_time: Type.String({ format: 'date-time' }),
  resource_type: Type.Optional(Type.String()),
  resource: Type.Optional(Type.Unknown()),
})
export type Envelope = Static<typeof Envelope>

const envelope = Compile(Envelope)
const code = Compile(Code)
const money = Compile(Money)
/** The form of the first version of the API, which sales still have. */
const legacyMoney = Compile(Type.Object({ currency: Type.String({ pattern: '^[A-Z]{3}$' }), total: Type.String() }))

/**
 * @returns the text to the byte, and what it is as JSON
 * @throws DomainError `invalid_request` when it is not a JSON object in UTF-8
 */
export function parseNotification(body: Buffer): { readonly text: string; readonly json: object } {
  const { text, json } = notificationJson(body)
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new DomainError('invalid_request', 'The body is not a JSON object')
  return { text, json }
}

/**
 * @returns with the time in UTC
 * @throws DomainError `invalid_request` when it is no notification
 */
export function readEnvelope(json: object): Envelope {
  if (!envelope.Check(json)) {
    const [first] = envelope.Errors(json)
    throw new DomainError('invalid_request', `The event is not valid: ${first?.instancePath} ${first?.message}`)
  }
  const create_time = instant(json.create_time)
  if (create_time === null) throw new DomainError('invalid_request', 'The event is not valid: /create_time is no time')
  return { ...json, create_time }
}

/**
 * What stands at a path, whatever is on the way there. The object is read leniently, because a field that is not as
 * expected is no reason to refuse a notification that PayPal has signed.
 */
export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = Object.hasOwn(found, step) ? Reflect.get(found, step) : undefined
  }
  return found
}

/** An id or a word at a path. */
export function codeAt(value: unknown, ...path: readonly (string | number)[]): string | null {
  const found = valueAt(value, ...path)
  return code.Check(found) ? found : null
}

/** An instant at a path, as ISO 8601 in UTC. */
export function instantAt(value: unknown, ...path: readonly (string | number)[]): string | null {
  const found = valueAt(value, ...path)
  return typeof found === 'string' ? instant(found) : null
}

/** An amount at a path, of either version of the API. */
export function amountAt(value: unknown, ...path: readonly (string | number)[]): Amount {
  const found = valueAt(value, ...path)
  if (money.Check(found)) return amount(found)
  if (legacyMoney.Check(found)) return amount({ currency_code: found.currency, value: found.total })
  return { amount_cents: null, currency: null }
}

export type Amount = { readonly amount_cents: number | null; readonly currency: string | null }

function amount(found: Money): Amount {
  return { amount_cents: toCents(found), currency: found.currency_code }
}

function instant(text: string): string | null {
  const time = Date.parse(text)
  return Number.isNaN(time) ? null : new Date(time).toISOString()
}
