// Money in PayPal's form: decimal strings, in the currencies that it takes.
import { DomainError } from '@paylog/domain/errors'
import { currencyExponent } from '@paylog/domain/money'
import type { Evidence } from '@paylog/domain/payments/evidence'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code, notificationJson } from '../fields.ts'
import { ProviderError } from '../provider.ts'
import { unreadableResponse } from '../responses.ts'

export const Money = Type.Object({ currency_code: Type.String({ pattern: '^[A-Z]{3}$' }), value: Type.String() })
export type Money = Readonly<Static<typeof Money>>

/** PayPal's list of currencies. Its largest amount, 999 999 999 999 999.99, is beyond ours in every one of them. */
const currencies: ReadonlySet<string> = new Set(
  'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF ILS JPY MXN MYR NOK NZD PHP PLN SEK SGD THB TWD USD'.split(' '),
)
/** PayPal takes no decimals in these, whatever ISO 4217 says. */
const wholeCurrencies: ReadonlySet<string> = new Set(['HUF', 'JPY', 'TWD'])

const decimal = /^(\d{1,15})(?:\.(\d{1,10}))?$/

/** @throws DomainError `currency_not_supported` */
export function checkAmount(amount_cents: number, currency: string): void {
  if (!currencies.has(currency)) throw new DomainError('currency_not_supported', `PayPal does not take ${currency}`)
  if (moneyOf(amount_cents, currency) === null)
    throw new DomainError('currency_not_supported', `PayPal takes whole amounts of ${currency} only`)
}

/**
 * An amount as PayPal wants it.
 * @param amount_cents in ISO 4217's minor units
 * @throws ProviderError `currency` for an amount that `checkAmount` refuses
 */
export function toMoney(amount_cents: number, currency: string): Money {
  const money = currencies.has(currency) ? moneyOf(amount_cents, currency) : null
  if (money) return money
  throw new ProviderError('currency', 'currency_not_supported', 'PayPal does not take this amount in this currency')
}

function moneyOf(amount_cents: number, currency_code: string): Money | null {
  const exponent = currencyExponent(currency_code)
  const digits = String(amount_cents).padStart(exponent + 1, '0')
  const whole = digits.slice(0, digits.length - exponent)
  const fraction = digits.slice(digits.length - exponent)
  if (!wholeCurrencies.has(currency_code)) return { currency_code, value: `${whole}.${fraction}` }
  return /^0*$/.test(fraction) ? { currency_code, value: whole } : null
}

/** An amount of PayPal's in minor units; `null` when it is none, or finer than the currency. */
export function toCents({ currency_code, value }: Money): number | null {
  const [, whole, fraction = ''] = decimal.exec(value) ?? []
  if (whole === undefined) return null
  const exponent = currencyExponent(currency_code)
  if (!/^0*$/.test(fraction.slice(exponent))) return null
  const cents = Number(whole + fraction.slice(0, exponent).padEnd(exponent, '0'))
  return Number.isSafeInteger(cents) ? cents : null
}

// What PayPal's answers about orders and captures have in common.

/** @throws ProviderError `unknown` for an amount that is none */
export function amountOf(money: Money): { readonly amount_cents: number; readonly currency: string } {
  const amount_cents = toCents(money)
  if (amount_cents === null) throw unreadableResponse('unreadable_answer')
  return { amount_cents, currency: money.currency_code }
}

/** @throws ProviderError `unknown` for a status that we do not know */
export function statusIn<Status>(
  statuses: Readonly<Record<string, Status>>,
  { status }: { readonly status: string },
): Status {
  const ours = Object.hasOwn(statuses, status) ? statuses[status] : undefined
  if (ours === undefined) throw unreadableResponse('unreadable_answer')
  return ours
}

// What a capture of PayPal's says about the payment behind it.

export const Capture = Type.Object({
  id: Code,
  status: Type.String(),
  amount: Money,
  status_details: Type.Optional(Type.Object({ reason: Type.Optional(Code) })),
})
export type Capture = Static<typeof Capture>

const captureStatuses: Readonly<Record<string, 'succeeded' | 'processing' | 'failed'>> = {
  COMPLETED: 'succeeded',
  // What went back later does not undo that the payment succeeded.
  PARTIALLY_REFUNDED: 'succeeded',
  REFUNDED: 'succeeded',
  PENDING: 'processing',
  DECLINED: 'failed',
  DENIED: 'failed',
  FAILED: 'failed',
}

/** @throws ProviderError `unknown` for a status that we do not know */
export const statusOfCapture = (capture: Capture) => statusIn(captureStatuses, capture)

/** What a capture says, apart from whose it is. @throws ProviderError `unknown` when it cannot be read */
export function captureEvidence(
  capture: Capture,
): Pick<Evidence, 'status' | 'provider_payment_id' | 'amount_cents' | 'currency' | 'failure_code' | 'failure_message'> {
  const status = statusOfCapture(capture)
  const evidence = { status, provider_payment_id: capture.id, ...amountOf(capture.amount) }
  return status === 'failed' ? { ...evidence, ...captureFailure(capture.status_details?.reason) } : evidence
}

/** @param reason PayPal's own word for it, if it has one */
export function captureFailure(reason?: string | null) {
  return {
    failure_code: reason?.toLowerCase() ?? 'capture_declined',
    failure_message: 'PayPal could not take the payment',
  }
}

// The text of a notification: an envelope that every one has, around an object that differs with its type.

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
