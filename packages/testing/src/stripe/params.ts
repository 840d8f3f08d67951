// Parses requests to the fake Stripe strictly, and checks their parameters, currencies and amounts.
import { invalid } from './errors.ts'

export type Values = { readonly [name: string]: Value }
export type Value = string | number | boolean | Values

/** The parameters of a route. `required` fields must be present; an empty string clears a `clearable` one. */
export type Spec = { readonly [name: string]: Field | readonly ['required', Field] }
type Field = 'text' | 'clearable' | 'integer' | 'boolean' | 'texts' | Spec

/**
 * Reads `a=1&b[c]=2`.
 * @throws StripeApiError for any other syntax
 */
export function readForm(text: string): Values {
  const form: Record<string, Value> = Object.create(null)
  if (text === '') return form
  for (const pair of text.split('&')) {
    const [, name, value] = /^([^=]+)=([^=]*)$/.exec(pair) ?? []
    if (name === undefined || value === undefined) throw invalid(undefined, `Invalid form: ${pair}`)
    put(form, path(decoded(name)), decoded(value))
  }
  return form
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw invalid(undefined, `Invalid form: ${text}`)
  }
}

function path(name: string): readonly string[] {
  if (!/^[a-z0-9_]+(\[[A-Za-z0-9_]+\])*$/.test(name)) throw invalid('parameter_unknown', `Invalid name: ${name}`, name)
  return name.split(/[[\]]+/).filter((part) => part !== '')
}

function put(form: Record<string, Value>, [first, ...rest]: readonly string[], value: string): void {
  if (first === undefined) return
  if (rest.length === 0) {
    if (first in form) throw invalid(undefined, `Sent twice: ${first}`, first)
    form[first] = value
    return
  }
  const inner: Record<string, Value> = { ...objectOf(form[first]) }
  put(inner, rest, value)
  form[first] = inner
}

const objectOf = (value: Value | undefined): Values => (typeof value === 'object' ? value : {})

/**
 * Converts strings to the types of the route's parameters.
 * @throws StripeApiError with Stripe's code
 */
export function checkParams(form: Values, spec: Spec, outer = ''): Values {
  const nameOf = (name: string) => (outer === '' ? name : `${outer}[${name}]`)
  for (const [name, field] of Object.entries(spec))
    if (Array.isArray(field) && !(name in form))
      throw invalid('parameter_missing', `Missing required param: ${nameOf(name)}.`, nameOf(name))
  return Object.fromEntries(
    Object.entries(form).map(([name, value]) => {
      const field = Object.hasOwn(spec, name) ? spec[name] : undefined
      if (field === undefined)
        throw invalid('parameter_unknown', `Received unknown parameter: ${nameOf(name)}`, nameOf(name))
      return [name, read(value, isRequired(field) ? field[1] : field, nameOf(name))]
    }),
  )
}

function isRequired(field: Spec[string]): field is readonly ['required', Field] {
  return Array.isArray(field)
}

function read(value: Value, field: Field, name: string): Value {
  if (field === 'texts') {
    if (typeof value !== 'object') throw invalid(undefined, `Invalid hash: ${name}`, name)
    return value
  }
  if (typeof field === 'object') {
    if (typeof value !== 'object') throw invalid(undefined, `Invalid object: ${name}`, name)
    return checkParams(value, field, name)
  }
  if (typeof value !== 'string') throw invalid(undefined, `Invalid string: ${name}`, name)
  if (field === 'clearable') return value
  if (value === '') throw invalid('parameter_invalid_empty', `You passed an empty string for '${name}'.`, name)
  switch (field) {
    case 'text':
      return value
    case 'integer':
      if (!/^-?\d{1,15}$/.test(value)) throw invalid('parameter_invalid_integer', `Invalid integer: ${value}`, name)
      return Number(value)
    case 'boolean':
      if (value !== 'true' && value !== 'false') throw invalid(undefined, `Invalid boolean: ${value}`, name)
      return value === 'true'
  }
}

export function textIn(values: Values, name: string): string | null {
  const value = values[name]
  return typeof value === 'string' ? value : null
}

export function numberIn(values: Values, name: string): number | null {
  const value = values[name]
  return typeof value === 'number' ? value : null
}

export function flagIn(values: Values, name: string): boolean | null {
  const value = values[name]
  return typeof value === 'boolean' ? value : null
}

export function valuesIn(values: Values, name: string): Values | null {
  const value = values[name]
  return typeof value === 'object' ? value : null
}

/** A hash of strings, like `metadata`. */
export function textsIn(values: Values, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(objectOf(values[name])).map(([key, value]) => [key, String(value)]))
}

/** The values of `expand[0]`, `expand[1]` … @throws StripeApiError for one that the object does not have */
export function expansionsIn(values: Values, possible: readonly string[]): readonly string[] {
  const expansions = Object.values(textsIn(values, 'expand'))
  const unknown = expansions.find((each) => !possible.includes(each))
  if (unknown !== undefined) throw invalid(undefined, `This property cannot be expanded (${unknown}).`, 'expand')
  return expansions
}

/** https://docs.stripe.com/currencies */
const presentment = new Set(
  (
    'aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd bwp byn bzd cad cdf chf clp cny ' +
    'cop crc cve czk djf dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gnf gtq gyd hkd hnl htg huf idr ils inr isk jmd ' +
    'jod jpy kes kgs khr kmf krw kwd kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ' +
    'ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf sar sbd scr sek sgd shp sle sos srd std szl ' +
    'thb tjs tnd top try ttd twd tzs uah ugx usd uyu uzs vnd vuv wst xaf xcd xof xpf yer zar zmw'
  ).split(' '),
)
const minimums: Readonly<Record<string, number>> = { aud: 50, cad: 50, chf: 50, eur: 50, gbp: 30, jpy: 50, usd: 50 }
const wholeUnits = new Set(['isk', 'ugx'])
const threeDecimals = new Set(['bhd', 'jod', 'kwd', 'omr', 'tnd'])
/** The limit of the API reference. Other pages name higher ones for some payment methods. */
const maximum = 99_999_999

/** @param currency lower case @throws StripeApiError */
export function checkCharge(amount: number, currency: string): void {
  checkCurrency(currency)
  if (amount < 1) throw invalid('parameter_invalid_integer', 'This value must be greater than or equal to 1.', 'amount')
  if (amount < (minimums[currency] ?? 1))
    throw invalid('amount_too_small', 'Amount must convert to at least 50 cents.', 'amount')
  checkAmount(amount, currency, 'amount')
}

/** A price may be 0. @param currency lower case @throws StripeApiError */
export function checkPrice(unitAmount: number, currency: string): void {
  checkCurrency(currency)
  if (unitAmount < 0)
    throw invalid('parameter_invalid_integer', 'This value must be greater than or equal to 0.', 'unit_amount')
  checkAmount(unitAmount, currency, 'unit_amount')
}

function checkCurrency(currency: string): void {
  if (!presentment.has(currency))
    throw invalid(undefined, `Invalid currency: ${currency}. Stripe currently supports these currencies: …`, 'currency')
}

function checkAmount(amount: number, currency: string, param: string): void {
  if (amount > maximum && currency !== 'idr')
    throw invalid('amount_too_large', 'Amount must be no more than 999,999.99.', param)
  if ((wholeUnits.has(currency) && amount % 100 !== 0) || (threeDecimals.has(currency) && amount % 10 !== 0))
    throw invalid(undefined, `Invalid amount for ${currency}: ${amount}`, param)
}
