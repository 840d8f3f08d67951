// Values that a schema of the document accepts. Texts contain a canary: the name of who sends them.
import { randomUUID } from 'node:crypto'
import type { Random } from '../campaign/random.ts'
import type { Schema } from './document.ts'
import { oneOf } from './mutations.ts'
import type { Pool } from './pool.ts'

export type ValueSource = { readonly random: Random; readonly owner: string; readonly pool: Pool }

/** Values with a meaning, by the name of the field or parameter. */
const meaningful: Readonly<Record<string, string>> = {
  provider_id: 'sandbox stripe stripe stripe paypal authorize-net nowhere',
  provider: 'sandbox stripe paypal authorize-net',
  currency: 'EUR usd JPY BHD XXX',
  country: 'DE us FR ZZ',
  payment_method_token: 'pm_card_visa pm_card_mastercard pm_card_declined pm_card_amex',
  event: 'payment.succeeded payment_intent.succeeded invoice.payment_failed customer.created stripe:charge.refunded',
  event_type: 'payment.succeeded payment.created stripe:payment_intent.succeeded',
  user_id: '00000000-0000-4000-8000-000000000001 00000000-0000-4000-8000-000000000002 user-9',
  name: 'payments products payment-methods addresses',
  endpoint: '1 2 3',
  category: 'payment product audit payment_method',
  type: 'PaymentInitiated ProductAdded card paypal',
  include: 'payment_method nothing',
  'x-reason': 'Ticket%204711 because',
}
/** What a field names, by its name: kinds of `Pool`. */
const named: readonly (readonly [RegExp, string])[] = [
  [/payment_id$/, 'payments'],
  [/payment_method_id$/, 'payment-methods'],
  [/address_id$/, 'addresses'],
  [/product_ids?$/, 'products'],
  [/position$|read-after$|^after$|^head$|^from$/, 'positions'],
  [/cursor$/, 'cursors'],
  [/if-match$/, 'etags'],
]

/** @param name of the field or parameter */
export function validValue(schema: Schema, name: string, source: ValueSource): unknown {
  const { random } = source
  const { minimum = 0, maximum = 10_000, minItems = 0, maxItems = 9, items = {} } = schema
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return oneOf(random, schema.enum)
  if (schema.anyOf) return validValue(oneOf(random, schema.anyOf), name, source)
  if (typeof schema.type === 'object') return validValue({ ...schema, type: oneOf(random, schema.type) }, name, source)
  switch (schema.type) {
    case 'object':
      return validObject(schema, source)
    case 'array': {
      const length = random.between(minItems, random.isIn(0.02) ? maxItems : Math.min(maxItems, 5))
      return Array.from({ length }, () => validValue(items, name, source))
    }
    case 'integer':
      if (random.isIn(0.1)) return oneOf(random, [minimum, maximum])
      return random.between(minimum, Math.min(maximum, minimum + 5_000))
    case 'boolean':
      return random.isIn(0.5)
    case 'null':
      return null
    default:
      return validText(schema, name, source)
  }
}

function validObject({ properties, required = [] }: Schema, source: ValueSource): object {
  const { random, owner } = source
  if (!properties) return { order: `canary.${owner}.1`, amount: random.between(1, 9_999), nested: { list: [1, null] } }
  const share = oneOf(random, [0.1, 0.3, 0.9])
  const chosen = Object.entries(properties).filter(([name]) => required.includes(name) || random.isIn(share))
  return Object.fromEntries(chosen.map(([name, schema]) => [name, validValue(schema, name, source)]))
}

function validText(schema: Schema, name: string, source: ValueSource): string {
  const { random, pool, owner } = source
  const kind = named.find(([pattern]) => pattern.test(name))?.[1]
  const known = kind === undefined ? undefined : pool.pick(kind, source)
  if (known !== undefined && random.isIn(0.8)) return known
  const words = meaningful[name]
  if (words !== undefined && random.isIn(0.9)) return oneOf(random, words.split(' '))
  const { format, pattern = '', minLength = 0, maxLength = 300 } = schema
  const text = `canary.${owner}.${random.between(1, 999)}`
  if (format === 'uuid') return randomUUID()
  if (format === 'email') return `${text}@example.com`
  if (format === 'date-time') return new Date(Date.now() - random.between(-1e6, 1e9)).toISOString()
  if (pattern.includes('0-9]')) return String(random.between(0, 1e6))
  if (pattern.startsWith('^https?')) return `https://shop.example.com/${random.between(1, 99)}?a=%20#b`
  if (pattern.includes('{3}')) return oneOf(random, ['EUR', 'gbp', 'CHF'])
  const end = oneOf(random, ['', '', ' é', ' 漢字', ' 😀', ' a\u0301', ' \u200f', ' &', pattern ? '' : ' <">'])
  const length = random.isIn(0.05) ? Math.min(maxLength, 3_000) : minLength
  return (text + end).padEnd(length, 'x').slice(0, maxLength)
}
