// Authorize.Net's field formats: decimal amounts, invoice numbers, plain text, and the evidence in a transaction.
import { DomainError } from '@paylog/domain/errors'
import type { Evidence } from '@paylog/domain/payments/evidence'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import { decimalOf, unitsOf } from '../fields.ts'
import { paymentIdEndingIn } from '../findableId.ts'
import { unreadableResponse } from '../responses.ts'
import type { Transaction } from './api.ts'
import { isCapturable } from './statuses.ts'

/** The currencies of all processors that Authorize.Net works with. */
const currencies: ReadonlySet<string> = new Set('AUD CAD CHF DKK EUR GBP NOK NZD PLN SEK USD ZAR'.split(' '))

/**
 * The gateway rejects a currency that the merchant account does not accept.
 * @throws DomainError `currency_not_supported`
 */
export function checkAmount(_amount_cents: number, currency: string): void {
  if (!currencies.has(currency))
    throw new DomainError('currency_not_supported', 'Authorize.Net does not process payments in this currency', {
      supported: [...currencies],
    })
}

/** All currencies have two decimals. */
export const toDecimal = (cents: number): string => decimalOf(cents, 2)
export const centsOf = (decimal: string): number | null => unitsOf(decimal, 2)

/**
 * The payment of an invoice number; `null` if the number does not have our form. Other systems on the same merchant
 * account may use other forms.
 */
export function paymentIdOf(invoiceNumber: string | null | undefined): string | null {
  return invoiceNumber && /^[0-9a-f]{20}$/.test(invoiceNumber) ? paymentIdEndingIn(invoiceNumber) : null
}

/** The schema's limit for descriptions. */
const maxTextLength = 255

/** Replaces control characters, which the gateway's XML does not allow, and cuts the text to the limit. */
export function plainText(text: string): string {
  return text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, maxTextLength)
    .toWellFormed()
}

/** The evidence fields that a transaction does not contain. */
export type EvidenceSource = Pick<Evidence, 'provider_time' | 'provider_event_id' | 'currency'>

/**
 * @param status the payment status that follows from this transaction
 * @throws ProviderError when the amount is not a whole number of cents
 */
export function evidenceOf(transaction: Transaction, status: PaymentStatus, source: EvidenceSource): Evidence {
  return {
    ...source,
    status,
    provider_intent_id: ownInvoiceOf(transaction),
    provider_payment_id: transaction.transId,
    amount_cents: amountOf(transaction, status === 'succeeded' ? 'settleAmount' : 'authAmount'),
    ...(isCapturable(transaction) && { capturable_cents: amountOf(transaction, 'authAmount') }),
    ...(status === 'failed' ? failureOf(transaction) : {}),
  }
}

/**
 * `settleAmount` is the money that moves, `authAmount` what was authorized.
 * @throws ProviderError when it is not a whole number of cents: a missing amount would pass as the right one
 */
export function amountOf(transaction: Transaction, which: 'settleAmount' | 'authAmount'): number {
  const cents = centsOf(transaction[which])
  if (cents === null) throw unreadableResponse('unreadable_answer')
  return cents
}

/** @returns the invoice number, or `null` if it does not have our form */
export function ownInvoiceOf({ order }: Transaction): string | null {
  const invoiceNumber = order?.invoiceNumber ?? null
  return paymentIdOf(invoiceNumber) === null ? null : invoiceNumber
}

function failureOf({ responseCode, responseReasonCode, transactionStatus }: Transaction) {
  return {
    failure_code: responseReasonCode ?? transactionStatus,
    failure_message: responseCode === '2' ? 'The payment was declined' : 'The payment failed at Authorize.Net',
  }
}
