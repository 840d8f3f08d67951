// PayPal's field formats: money, captures, notification envelopes, and what their objects name.

import { currencyExponent, decimalOf } from '@paylog/domain/currency'
import { DomainError } from '@paylog/domain/errors'
import type { RefundStatus } from '@paylog/domain/payments/events'
import type { ReportedMoney } from '@paylog/domain/payments/reportedMoney'
import type { StatusReport } from '@paylog/domain/payments/statusReports'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code, notificationJson, paymentIdFrom, unitsOf } from '../fields.ts'
import { codeAt, instantAt, requiredCodeAt, timeOfReading, valueAt } from '../lenient.ts'
import { ProviderError } from '../provider.ts'
import { unreadableResponse } from '../responses.ts'

export const Money = Type.Object({ currency_code: Type.String({ pattern: '^[A-Z]{3}$' }), value: Type.String() })
export type Money = Readonly<Static<typeof Money>>

/** PayPal's currencies. Its maximum amount, 999 999 999 999 999.99, exceeds ours in each of them. */
const currencies: ReadonlySet<string> = new Set(
  'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF ILS JPY MXN MYR NOK NZD PHP PLN SEK SGD THB TWD USD'.split(' '),
)
/** PayPal accepts no decimals in these, unlike ISO 4217. */
const wholeCurrencies: ReadonlySet<string> = new Set(['HUF', 'JPY', 'TWD'])

/** @throws DomainError `currency_not_supported` */
export function checkAmount(amount_cents: number, currency: string): void {
  if (!currencies.has(currency)) throw new DomainError('currency_not_supported', `PayPal does not accept ${currency}`)
  if (moneyOf(amount_cents, currency) === null)
    throw new DomainError('currency_not_supported', `PayPal accepts only whole amounts of ${currency}`)
}

/**
 * Converts an amount to PayPal's format.
 * @param amount_cents in ISO 4217's minor units
 * @throws ProviderError `currency` for an amount that `checkAmount` rejects
 */
export function toMoney(amount_cents: number, currency: string): Money {
  const money = currencies.has(currency) ? moneyOf(amount_cents, currency) : null
  if (money) return money
  throw new ProviderError('currency', 'currency_not_supported', 'PayPal does not accept this amount in this currency')
}

function moneyOf(amount_cents: number, currency_code: string): Money | null {
  const value = decimalOf(amount_cents, currencyExponent(currency_code))
  if (!wholeCurrencies.has(currency_code)) return { currency_code, value }
  const [whole = '', fraction = ''] = value.split('.')
  return /^0*$/.test(fraction) ? { currency_code, value: whole } : null
}

/** Converts PayPal's amount to minor units; `null` when it is invalid, or has more decimals than the currency. */
export function toCents({ currency_code, value }: Money): number | null {
  return unitsOf(value, currencyExponent(currency_code))
}

/** @throws ProviderError `unknown` for an invalid amount */
export function amountOf(money: Money): { readonly amount_cents: number; readonly currency: string } {
  const amount_cents = toCents(money)
  if (amount_cents === null) throw unreadableResponse('unreadable_answer')
  return { amount_cents, currency: money.currency_code }
}

/** Maps PayPal's status to ours. @throws ProviderError `unknown` for an unknown status */
export function statusIn<Status>(
  statuses: ReadonlyMap<string, Status>,
  { status }: { readonly status: string },
): Status {
  const mapped = statuses.get(status)
  if (mapped === undefined) throw unreadableResponse('unreadable_answer')
  return mapped
}

export const Capture = Type.Object({
  id: Code,
  status: Type.String(),
  amount: Money,
  status_details: Type.Optional(Type.Object({ reason: Type.Optional(Code) })),
  final_capture: Type.Optional(Type.Boolean()),
  links: Type.Optional(Type.Unknown()),
})
export type Capture = Static<typeof Capture>

const captureStatuses: ReadonlyMap<string, 'succeeded' | 'processing' | 'failed'> = new Map([
  ['COMPLETED', 'succeeded'],
  // A later refund does not change that the payment succeeded.
  ['PARTIALLY_REFUNDED', 'succeeded'],
  ['REFUNDED', 'succeeded'],
  ['PENDING', 'processing'],
  ['DECLINED', 'failed'],
  ['DENIED', 'failed'],
  ['FAILED', 'failed'],
])

/** @throws ProviderError `unknown` for an unknown status */
export const statusOfCapture = (capture: Capture) => statusIn(captureStatuses, capture)

/** What a capture reports, without the payment it belongs to. @throws ProviderError `unknown` when unreadable */
export function captureReport(
  capture: Capture,
): Pick<
  StatusReport,
  'status' | 'provider_payment_id' | 'amount_cents' | 'currency' | 'failure_code' | 'failure_message'
> {
  const status = statusOfCapture(capture)
  const report = { status, provider_payment_id: capture.id, ...amountOf(capture.amount) }
  return status === 'failed' ? { ...report, ...captureFailure(capture.status_details?.reason) } : report
}

/** @param reason PayPal's own reason code, if any */
export function captureFailure(reason?: string | null) {
  return {
    failure_code: reason?.toLowerCase() ?? 'capture_declined',
    failure_message: 'PayPal could not capture the payment',
  }
}

/** https://developer.paypal.com/docs/api/payments/v2/#refunds_get */
export const refundStatuses: ReadonlyMap<string, RefundStatus> = new Map([
  ['COMPLETED', 'succeeded'],
  ['PENDING', 'pending'],
  ['FAILED', 'failed'],
  ['CANCELLED', 'failed'],
])

/** The code of a failed refund: PayPal's reason, or its status. */
export const refundFailure = (status: string | null, reason?: string | null): string =>
  (reason ?? status ?? 'failed').toLowerCase()

/** The envelope of every notification, with its time in UTC. `resource` depends on the type. */
export type Envelope = {
  readonly id: string
  readonly event_type: string
  readonly create_time: string
  readonly resource_type: string | null
  readonly resource: unknown
}

const money = Compile(Money)
/** The format of the API's first version, which sales still use. */
const legacyMoney = Compile(Type.Object({ currency: Type.String({ pattern: '^[A-Z]{3}$' }), total: Type.String() }))

/**
 * @returns the text, byte for byte, and the parsed JSON
 * @throws DomainError `invalid_request` when it is not a JSON object in UTF-8
 */
export function parseNotification(body: Buffer): { readonly text: string; readonly json: object } {
  const { text, json } = notificationJson(body)
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new DomainError('invalid_request', 'The body is not a JSON object')
  return { text, json }
}

/** @throws DomainError `invalid_request` when it has no id or no type */
export function readEnvelope(json: object): Envelope {
  return {
    id: requiredCodeAt(json, 'id'),
    event_type: requiredCodeAt(json, 'event_type'),
    create_time: instantAt(json, 'create_time') ?? timeOfReading(),
    resource_type: codeAt(json, 'resource_type'),
    resource: valueAt(json, 'resource'),
  }
}

/** An amount at a path, in either format. */
export function amountAt(value: unknown, ...path: readonly (string | number)[]): ReportedMoney {
  const found = valueAt(value, ...path)
  if (money.Check(found)) return reportedMoney(found)
  if (legacyMoney.Check(found)) return reportedMoney({ currency_code: found.currency, value: found.total })
  return { amount_cents: null, currency: null }
}

export function reportedMoney(found: Money): ReportedMoney {
  return { amount_cents: toCents(found), currency: found.currency_code }
}

/**
 * Our own refunds name their payment and themselves, because PayPal shows only a refund's own `custom_id`. An invoice number
 * is not sent: PayPal may reject a refund with the number of its payment as `DUPLICATE_INVOICE_ID`.
 */
export const refundCustomId = (payment_id: string, refund_id: string): string => `${payment_id}.${refund_id}`

const ownRefund = /^([^.]+)\.([^.]+)$/

/**
 * The payment that an object names. We write the payment id into both fields of an order.
 * @param object an order, a capture, an authorization, a refund, or a dispute's transaction
 */
export function paymentIdIn(object: unknown): string | null {
  const unit = valueAt(object, 'purchase_units', 0)
  const invoice = valueAt(object, 'invoice_id') ?? valueAt(unit, 'invoice_id') ?? valueAt(object, 'invoice_number')
  const custom = customIdIn(object)
  return paymentIdFrom(custom) ?? idsOfRefund(custom)?.payment_id ?? paymentIdFrom(invoice)
}

/** The refund of ours that a refund at PayPal names. */
export const refundIdIn = (refund: unknown): string | null => idsOfRefund(customIdIn(refund))?.refund_id ?? null

function idsOfRefund(custom: unknown): { readonly payment_id: string; readonly refund_id: string } | null {
  const [, payment, refund] = typeof custom === 'string' ? (ownRefund.exec(custom) ?? []) : []
  const [payment_id, refund_id] = [paymentIdFrom(payment), paymentIdFrom(refund)]
  return payment_id !== null && refund_id !== null ? { payment_id, refund_id } : null
}

function customIdIn(object: unknown): unknown {
  const unit = valueAt(object, 'purchase_units', 0)
  return valueAt(object, 'custom_id') ?? valueAt(unit, 'custom_id') ?? valueAt(object, 'custom')
}

/** Whether the object has another system's id in place of ours. */
export function isOthersObject(object: unknown): boolean {
  return Boolean(customIdIn(object)) && paymentIdIn(object) === null
}

const orderLink = /\/checkout\/orders\/([A-Za-z0-9-]+)$/
const captureLink = /\/captures?\/([A-Za-z0-9-]+)$/
const authorizationLink = /\/authorizations\/([A-Za-z0-9-]+)$/

/** The order that an object belongs to. Some objects name it, others only link to it. */
export function orderIn(object: unknown): string | null {
  return codeAt(object, 'supplementary_data', 'related_ids', 'order_id') ?? linkedUp(object, orderLink)
}

/** The capture that a refund only links to. */
export const linkedCapture = (object: unknown): string | null => linkedUp(object, captureLink)

/** The authorization that a capture was made of, if any. */
export const linkedAuthorization = (object: unknown): string | null => linkedUp(object, authorizationLink)

function linkedUp(object: unknown, link: RegExp): string | null {
  const links = valueAt(object, 'links')
  const up = Array.isArray(links) ? links.find((each) => valueAt(each, 'rel') === 'up') : undefined
  return link.exec(codeAt(up, 'href') ?? '')?.[1] ?? null
}
