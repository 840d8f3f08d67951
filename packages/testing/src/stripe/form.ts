// Requests to the fake Stripe: forms whose names have brackets, read strictly, and held against what a path takes.
import { invalid } from './refusal.ts'

export type Values = { readonly [name: string]: Value }
export type Value = string | number | boolean | Values

/** What a path takes. A field with `required` in front must be there; an empty text clears one that is `clearable`. */
export type Spec = { readonly [name: string]: Field | readonly ['required', Field] }
type Field = 'text' | 'clearable' | 'integer' | 'boolean' | 'texts' | Spec

/**
 * Reads `a=1&b[c]=2`.
 * @throws StripeRefusal for anything that is not written exactly like that
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
 * Turns texts into what the path takes.
 * @throws StripeRefusal in the words of Stripe's own codes
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

/** A hash of texts, like `metadata`. */
export function textsIn(values: Values, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(objectOf(values[name])).map(([key, value]) => [key, String(value)]))
}
