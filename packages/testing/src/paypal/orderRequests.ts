// The fake's checks of order requests, and its amounts.

import { currencyExponent } from '@paylog/domain/currency'
import { valueAt } from '../fakeServer.ts'
import { errorResponse, type FakeResponse, textAt } from './responses.ts'

const currencies: ReadonlySet<string> = new Set([
  ...['AUD', 'BRL', 'CAD', 'CHF', 'CNY', 'CZK', 'DKK', 'EUR', 'GBP', 'HKD', 'HUF', 'ILS'],
  ...['JPY', 'MXN', 'MYR', 'NOK', 'NZD', 'PHP', 'PLN', 'SEK', 'SGD', 'THB', 'TWD', 'USD'],
])
const withoutDecimals: ReadonlySet<string> = new Set(['HUF', 'JPY', 'TWD'])

export type Money = { readonly currency_code: string; readonly value: string }

export type PurchaseUnit = {
  readonly amount: Money
  readonly soft_descriptor?: string
  readonly custom_id?: string
  readonly invoice_id?: string
  readonly description?: string
}

export type OrderIntent = 'CAPTURE' | 'AUTHORIZE'

/** How the order is paid, when the request says so. */
export type OrderSource = {
  readonly kind: string
  readonly vault_id: string | undefined
  readonly return_url: string | undefined
  readonly cancel_url: string | undefined
  readonly user_action: string | undefined
}

export type OrderRequest = {
  readonly intent: OrderIntent
  readonly unit: PurchaseUnit
  readonly source: OrderSource | undefined
}

const textFields = { custom_id: 127, invoice_id: 127, description: 127, soft_descriptor: 22 } as const
const fieldNames = ['custom_id', 'invoice_id', 'description', 'soft_descriptor'] as const
const amountField = "/purchase_units/@reference_id=='default'/amount"

/** @returns the order's only purchase unit and its payment source, or the error response */
export function readOrderRequest(
  json: unknown,
  isPaid: (invoiceId: string | undefined) => boolean,
): OrderRequest | { readonly rejected: FakeResponse } {
  const units = valueAt(json, 'purchase_units')
  const intent = intentIn(json)
  if (!intent || !Array.isArray(units) || units.length !== 1)
    return { rejected: errorResponse(400, 'INVALID_PARAMETER_SYNTAX') }
  const [unit] = units
  const currency_code = textAt(unit, /^.+$/, 'amount', 'currency_code')
  const value = textAt(unit, /^.{1,32}$/, 'amount', 'value')
  if (currency_code === undefined || value === undefined)
    return { rejected: errorResponse(400, 'MISSING_REQUIRED_PARAMETER', amountField) }
  const amountIssue = issueOf({ currency_code, value })
  if (amountIssue) return { rejected: errorResponse(422, amountIssue, `${amountField}/value`) }
  const texts: Partial<Record<(typeof fieldNames)[number], string>> = {}
  for (const field of fieldNames) {
    const text = valueAt(unit, field)
    if (text === undefined) continue
    if (typeof text !== 'string' || text === '' || Buffer.byteLength(text) > textFields[field])
      return {
        rejected: errorResponse(400, 'INVALID_STRING_LENGTH', `/purchase_units/@reference_id=='default'/${field}`),
      }
    texts[field] = text
  }
  if (isPaid(texts.invoice_id)) return { rejected: errorResponse(422, 'DUPLICATE_INVOICE_ID') }
  return { intent, unit: { amount: { currency_code, value }, ...texts }, source: sourceIn(json) }
}

function intentIn(json: unknown): OrderIntent | undefined {
  const intent = valueAt(json, 'intent')
  return intent === 'CAPTURE' || intent === 'AUTHORIZE' ? intent : undefined
}

function sourceIn(json: unknown): OrderSource | undefined {
  const given = valueAt(json, 'payment_source')
  const [kind] = typeof given === 'object' && given !== null ? Object.keys(given) : []
  if (kind === undefined) return undefined
  const context = (name: string) => textAt(given, /^.+$/, kind, 'experience_context', name)
  return {
    kind,
    vault_id: textAt(given, /^.+$/, kind, 'vault_id'),
    return_url: context('return_url'),
    cancel_url: context('cancel_url'),
    user_action: context('user_action'),
  }
}

/** @returns PayPal's issue for an amount that it does not accept */
export function issueOf({ currency_code, value }: Money): string | undefined {
  if (!/^[A-Z]{3}$/.test(currency_code)) return 'INVALID_CURRENCY_CODE'
  if (!currencies.has(currency_code)) return 'CURRENCY_NOT_SUPPORTED'
  const [, whole, fraction] = /^(\d+)(?:\.(\d+))?$/.exec(value) ?? []
  if (whole === undefined) return 'INVALID_PARAMETER_VALUE'
  if (withoutDecimals.has(currency_code) && fraction !== undefined) return 'DECIMALS_NOT_SUPPORTED'
  if (fraction !== undefined && fraction.length > 2) return 'DECIMAL_PRECISION'
  if (whole.length > 15) return 'MAX_VALUE_EXCEEDED'
  return Number(value) > 0 ? undefined : 'CANNOT_BE_ZERO_OR_NEGATIVE'
}

/** In minor units of ISO 4217. */
export function centsOf({ currency_code, value }: Money): number {
  return Math.round(Number(value) * 10 ** currencyExponent(currency_code))
}

export function moneyOf(cents: number, currency_code: string): Money {
  const amount = cents / 10 ** currencyExponent(currency_code)
  return { currency_code, value: withoutDecimals.has(currency_code) ? String(amount) : amount.toFixed(2) }
}

/** The amount in a request to capture or refund. */
export function moneyIn(json: unknown): Money | undefined {
  const currency_code = textAt(json, /^.+$/, 'amount', 'currency_code')
  const value = textAt(json, /^.{1,32}$/, 'amount', 'value')
  return currency_code === undefined || value === undefined ? undefined : { currency_code, value }
}
