// Stripe's objects, in responses and in notifications: amounts, references, payment intents and refunds.
// The plugin imports this to read notifications, so nothing here calls Stripe.

import { currencyExponent } from '@paylog/domain/currency'
import { DomainError } from '@paylog/domain/errors'
import type { RefundReason, RefundStatus } from '@paylog/domain/payments/events'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import type { ReportedMoney } from '@paylog/domain/payments/reportedMoney'
import type { ReportSource, StatusReport } from '@paylog/domain/payments/statusReports'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Amount, Code, maybe, paymentIdFrom } from '../fields.ts'
import { codeAt, unitsAt, valueAt } from '../lenient.ts'
import type { ReportedRefund } from '../provider.ts'

// Stripe's decimals differ from ISO 4217 for some currencies. https://docs.stripe.com/currencies
const zeroDecimal = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '))
const threeDecimal = new Set('BHD JOD KWD OMR TND'.split(' '))
/** Currencies with known differences from ISO: ISK and UGX have no decimals but are written with two; MGA has two. */
const otherThanIso = new Set('ISK UGX MGA'.split(' '))

/** Stripe's maximum for cards. Stripe itself checks the limits of each payment method. */
const maxAmount = 999_999_999_999

/** @throws DomainError `currency_not_supported` when the amount cannot be expressed at Stripe */
export function checkStripeAmount(amount_cents: number, currency: string): void {
  if (toStripeAmount(amount_cents, currency) === null)
    throw new DomainError('currency_not_supported', 'Stripe does not accept this amount in this currency', {
      provider_id: 'stripe',
      currency,
      amount_cents,
    })
}

/**
 * Converts an amount to Stripe's integer.
 * @param amount_cents in ISO's minor units
 * @param currency upper case
 * @returns `null` when Stripe cannot express it
 */
export function toStripeAmount(amount_cents: number, currency: string): number | null {
  const amount = scaled(amount_cents, stripeExponent(currency) - currencyExponent(currency))
  return amount !== null && isWritable(amount, currency) ? amount : null
}

/**
 * Converts Stripe's amount to ISO's minor units.
 * @param currency in any case
 * @returns `null` for a fraction of the minor unit, which Stripe does not charge
 */
export function fromStripeAmount(amount: number, currency: string): number | null {
  const code = currency.toUpperCase()
  return scaled(amount, currencyExponent(code) - stripeExponent(code))
}

function isWritable(amount: number, currency: string): boolean {
  const isKnown = currencyExponent(currency) === stripeExponent(currency) || otherThanIso.has(currency)
  // Stripe supports only two of the three decimals.
  return isKnown && amount <= maxAmount && (!threeDecimal.has(currency) || amount % 10 === 0)
}

function stripeExponent(currency: string): number {
  if (zeroDecimal.has(currency)) return 0
  return threeDecimal.has(currency) ? 3 : 2
}

function scaled(amount: number, decimals: number): number | null {
  if (decimals >= 0) return amount * 10 ** decimals
  const unit = 10 ** -decimals
  return amount % unit === 0 ? amount / unit : null
}

export const CurrencyCode = Type.String({ pattern: '^[A-Za-z]{3}$' })

/** Another object: its id, or the expanded object. */
export const Reference = Type.Union([Code, Type.Object({ id: Code })])

const currency = Compile(CurrencyCode)

export type StripeObject = Readonly<Record<string, unknown>>

/** The id of a referenced object, expanded or not. */
export function idIn(value: unknown): string | null {
  return codeAt(value) ?? codeAt(value, 'id')
}

/** The payment that an object's metadata names. */
export function paymentIdIn(object: unknown): string | null {
  return paymentIdFrom(valueAt(object, 'metadata', 'payment_id'))
}

/** Upper case. */
export function currencyIn(value: unknown): string | null {
  return currency.Check(value) ? value.toUpperCase() : null
}

/** An amount in ISO's minor units, and its currency; the amount is `null` without a valid currency. */
export function moneyIn(amount: unknown, code: unknown): ReportedMoney {
  const [units, currency] = [unitsAt(amount), currencyIn(code)]
  return { amount_cents: units === null || currency === null ? null : fromStripeAmount(units, currency), currency }
}

/** The fields that we read. https://docs.stripe.com/api/payment_intents/object */
export const PaymentIntent = Type.Object({
  id: Code,
  amount: Amount,
  amount_received: maybe(Amount),
  /** Authorized, and not captured. */
  amount_capturable: maybe(Amount),
  capture_method: maybe(Code),
  currency: CurrencyCode,
  status: maybe(Code),
  client_secret: maybe(Type.String({ minLength: 1, maxLength: 500 })),
  metadata: maybe(Type.Object({ payment_id: Type.Optional(Type.String()) })),
  customer: maybe(Reference),
  receipt_email: maybe(Type.String()),
  latest_charge: maybe(Reference),
  last_payment_error: maybe(
    Type.Object({ type: maybe(Code), code: maybe(Code), decline_code: maybe(Code), charge: maybe(Reference) }),
  ),
  cancellation_reason: maybe(Code),
})
export type PaymentIntent = Static<typeof PaymentIntent>

/** @returns `undefined` for an unknown status */
export function intentStatusOf({ status, last_payment_error }: PaymentIntent): PaymentStatus | undefined {
  // The last attempt failed, and the intent waits for another.
  if (status === 'requires_payment_method' && last_payment_error) return 'failed'
  return intentStatuses.get(status)
}

const intentStatuses: ReadonlyMap<unknown, PaymentStatus> = new Map([
  ['requires_payment_method', 'pending'],
  ['requires_confirmation', 'pending'],
  ['requires_action', 'pending'],
  ['processing', 'processing'],
  ['requires_capture', 'processing'],
  ['succeeded', 'succeeded'],
  ['canceled', 'canceled'],
])

/**
 * A report that the payment of the intent has a status.
 * @param source the time and the event of the report
 * @returns `null` when the amount cannot be converted
 */
export function statusReportOf(
  intent: PaymentIntent,
  status: PaymentStatus,
  source: Pick<StatusReport, 'provider_time' | 'provider_event_id'>,
): StatusReport | null {
  const { id, amount, amount_received, currency, latest_charge, last_payment_error, cancellation_reason } = intent
  const capturable_cents = fromStripeAmount(intent.amount_capturable ?? 0, currency)
  const amount_cents = fromStripeAmount(status === 'succeeded' ? (amount_received ?? amount) : amount, currency)
  if (amount_cents === null) return null
  return {
    ...source,
    status,
    provider_intent_id: id,
    // An attempt can fail before it has a charge, and `latest_charge` then belongs to an earlier attempt.
    provider_payment_id: idIn(status === 'failed' ? last_payment_error?.charge : latest_charge),
    amount_cents,
    currency: currency.toUpperCase(),
    ...(status === 'processing' && capturable_cents !== null ? { capturable_cents } : {}),
    ...(status === 'failed' ? failureOf(last_payment_error) : {}),
    ...(status === 'canceled' && cancellation_reason ? { reason: cancellation_reason } : {}),
  }
}

/** Prefers the bank's own code, if the bank declined. */
function failureOf(error: PaymentIntent['last_payment_error']) {
  return {
    failure_code: error?.decline_code ?? error?.code ?? error?.type ?? 'failed',
    failure_message: 'The payment was declined',
  }
}

/** The fields that we read. https://docs.stripe.com/api/refunds/object */
export const Refund = Type.Object({
  id: Code,
  amount: Amount,
  currency: CurrencyCode,
  status: maybe(Code),
  reason: maybe(Code),
  failure_reason: maybe(Code),
  charge: maybe(Reference),
  payment_intent: maybe(Reference),
  metadata: maybe(Type.Object({})),
})
export type Refund = Static<typeof Refund>

/** A charge, with its newest refunds where they are expanded. */
export const RefundedCharge = Type.Object({
  id: Code,
  amount: Amount,
  currency: maybe(CurrencyCode),
  amount_captured: maybe(Amount),
  captured: maybe(Type.Boolean()),
  payment_intent: maybe(Reference),
  metadata: maybe(Type.Object({})),
  refunds: maybe(Type.Object({ data: Type.Array(Refund), has_more: Type.Boolean() })),
})
export type RefundedCharge = Static<typeof RefundedCharge>

const refundSchema = Compile(Refund)

export function refundIn(value: unknown): Refund | null {
  return refundSchema.Check(value) ? value : null
}

/** Our id, which only refunds of ours name. */
export function refundIdIn({ metadata }: Pick<Refund, 'metadata'>): string | null {
  return paymentIdFrom(valueAt(metadata, 'refund_id'))
}

/** https://docs.stripe.com/refunds#failed-refunds. A canceled refund never reached the payer. */
const refundStatuses: ReadonlyMap<unknown, RefundStatus> = new Map([
  ['pending', 'pending'],
  ['requires_action', 'pending'],
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['canceled', 'failed'],
])

/** @returns `undefined` for an unknown status */
export function refundStatusOf({ status }: Refund): RefundStatus | undefined {
  return refundStatuses.get(status)
}

const refundReasons: ReadonlyMap<unknown, RefundReason> = new Map([
  ['duplicate', 'duplicate'],
  ['fraudulent', 'fraudulent'],
  ['requested_by_customer', 'requested_by_customer'],
])

/**
 * What Stripe says of a refund. One with a status that is new to us counts as pending.
 * @param source the time and the event of the report; the ids are used where the refund does not name them
 * @returns `null` when the amount cannot be converted
 */
export function reportedRefund(refund: Refund, source: ReportSource): ReportedRefund | null {
  const money = moneyIn(refund.amount, refund.currency)
  if (money.amount_cents === null) return null
  const status = refundStatusOf(refund) ?? 'pending'
  const reason = refundReasons.get(refund.reason) ?? 'other'
  return {
    ...source,
    provider_intent_id: idIn(refund.payment_intent) ?? source.provider_intent_id,
    provider_payment_id: idIn(refund.charge) ?? source.provider_payment_id,
    refund_id: refundIdIn(refund),
    provider_refund_id: refund.id,
    ...money,
    status,
    reason,
    ...(reason === 'other' && refund.reason ? { note: refund.reason } : {}),
    ...(status === 'failed' ? { failure_code: refund.failure_reason ?? refund.status ?? 'failed' } : {}),
  }
}

/** How much of the charge was authorized, and released instead of captured. */
export function releasedOf({ amount, amount_captured, captured }: RefundedCharge): number {
  if (captured === false) return amount
  return amount - (amount_captured ?? amount)
}

/**
 * The refunds that gave money back. Stripe also makes a refund when it releases what was authorized and not captured: all of
 * it, or the rest of a partial capture. https://docs.stripe.com/payments/place-a-hold-on-a-payment-method
 * @param refunds all refunds of the charge, newest first as Stripe lists them
 */
export function refundsOfMoney(charge: RefundedCharge, refunds: readonly Refund[]): readonly Refund[] {
  const released = releasedOf(charge)
  if (charge.captured === false || charge.amount_captured === 0) return []
  const real = refunds.filter(({ reason }) => reason !== 'expired_uncaptured_charge')
  if (released === 0 || real.length < refunds.length) return real
  // The rest is released with the capture, so before any other refund.
  const isOfRest = ({ amount, currency }: Refund) => amount === released && currency === (charge.currency ?? currency)
  const release = real.findLast((refund) => isOfRest(refund) && refundIdIn(refund) === null)
  return real.filter((refund) => refund !== release)
}
