// A transaction's details, as a statement about the payment that it belongs to.
import type { Evidence } from '@paylog/domain/payments/evidence'
import type { PaymentStatus } from '@paylog/domain/payments/status'
import { unreadableResponse } from '../answers.ts'
import { centsOf } from './amounts.ts'
import type { Transaction } from './answers.ts'
import { isInvoiceNumber } from './invoiceNumber.ts'

/** What no transaction says of itself. */
export type EvidenceSource = Pick<Evidence, 'provider_time' | 'provider_event_id' | 'currency'>

/**
 * @param status of the payment by this transaction
 * @throws ProviderError when the amount cannot be told in cents
 */
export function evidenceOf(transaction: Transaction, status: PaymentStatus, source: EvidenceSource): Evidence {
  return {
    ...source,
    status,
    provider_intent_id: ownInvoiceOf(transaction),
    provider_payment_id: transaction.transId,
    amount_cents: amountOf(transaction, status === 'succeeded' ? 'settleAmount' : 'authAmount'),
    ...(status === 'failed' ? failureOf(transaction) : {}),
  }
}

/**
 * Which amount matters depends on what happened: `settleAmount` is the money that moves.
 * @throws ProviderError when it is not a whole number of cents: «not said» would count as «the right amount»
 */
export function amountOf(transaction: Transaction, which: 'settleAmount' | 'authAmount'): number {
  const cents = centsOf(transaction[which])
  if (cents === null) throw unreadableResponse('unreadable_answer')
  return cents
}

/** The invoice number, if it has the form of ours. */
export function ownInvoiceOf({ order }: Transaction): string | null {
  const invoiceNumber = order?.invoiceNumber ?? ''
  return isInvoiceNumber(invoiceNumber) ? invoiceNumber : null
}

function failureOf({ responseCode, responseReasonCode, transactionStatus }: Transaction) {
  return {
    failure_code: responseReasonCode ?? transactionStatus,
    failure_message: responseCode === '2' ? 'The payment was declined' : 'The payment failed at Authorize.Net',
  }
}
