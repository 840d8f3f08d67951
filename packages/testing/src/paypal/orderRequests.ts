// What PayPal demands of a request for an order.

import { valueAt } from '../jsonAt.ts'
import { type FakeResponse, errorResponse } from './answers.ts'
import { textAt } from './json.ts'

export const currencies: ReadonlySet<string> = new Set([
  ...['AUD', 'BRL', 'CAD', 'CHF', 'CNY', 'CZK', 'DKK', 'EUR', 'GBP', 'HKD', 'HUF', 'ILS'],
  ...['JPY', 'MXN', 'MYR', 'NOK', 'NZD', 'PHP', 'PLN', 'SEK', 'SGD', 'THB', 'TWD', 'USD'],
])
export const withoutDecimals: ReadonlySet<string> = new Set(['HUF', 'JPY', 'TWD'])

export type Money = { readonly currency_code: string; readonly value: string }

export type PurchaseUnit = {
  readonly amount: Money
  readonly custom_id?: string
  readonly invoice_id?: string
  readonly description?: string
}

const textFields = ['custom_id', 'invoice_id', 'description'] as const
const amountField = "/purchase_units/@reference_id=='default'/amount"

/** @returns the one purchase unit, or the refusal */
export function readOrderRequest(
  json: unknown,
  paidInvoices: ReadonlySet<string>,
): { unit: PurchaseUnit } | { refused: FakeResponse } {
  const units = valueAt(json, 'purchase_units')
  if (valueAt(json, 'intent') !== 'CAPTURE' || !Array.isArray(units) || units.length !== 1)
    return { refused: errorResponse(400, 'INVALID_PARAMETER_SYNTAX') }
  const [unit] = units
  const currency_code = textAt(unit, /^.+$/, 'amount', 'currency_code')
  const value = textAt(unit, /^.{1,32}$/, 'amount', 'value')
  if (currency_code === undefined || value === undefined)
    return { refused: errorResponse(400, 'MISSING_REQUIRED_PARAMETER', amountField) }
  const amountIssue = issueOf({ currency_code, value })
  if (amountIssue) return { refused: errorResponse(422, amountIssue, `${amountField}/value`) }
  const texts: Partial<Record<(typeof textFields)[number], string>> = {}
  for (const field of textFields) {
    const text = valueAt(unit, field)
    if (text === undefined) continue
    if (typeof text !== 'string' || text === '' || Buffer.byteLength(text) > 127)
      return {
        refused: errorResponse(400, 'INVALID_STRING_LENGTH', `/purchase_units/@reference_id=='default'/${field}`),
      }
    texts[field] = text
  }
  if (texts.invoice_id !== undefined && paidInvoices.has(texts.invoice_id))
    return { refused: errorResponse(422, 'DUPLICATE_INVOICE_ID') }
  return { unit: { amount: { currency_code, value }, ...texts } }
}

function issueOf({ currency_code, value }: Money): string | undefined {
  if (!/^[A-Z]{3}$/.test(currency_code)) return 'INVALID_CURRENCY_CODE'
  if (!currencies.has(currency_code)) return 'CURRENCY_NOT_SUPPORTED'
  const [, whole, fraction] = /^(\d+)(?:\.(\d+))?$/.exec(value) ?? []
  if (whole === undefined) return 'INVALID_PARAMETER_VALUE'
  if (withoutDecimals.has(currency_code) && fraction !== undefined) return 'DECIMALS_NOT_SUPPORTED'
  if (fraction !== undefined && fraction.length > 2) return 'DECIMAL_PRECISION'
  if (whole.length > 15) return 'MAX_VALUE_EXCEEDED'
  return Number(value) > 0 ? undefined : 'CANNOT_BE_ZERO_OR_NEGATIVE'
}
