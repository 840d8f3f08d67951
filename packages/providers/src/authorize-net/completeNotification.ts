// Completes a notification about a transaction with its payment, the amount and the payment's status.

import { subscriptionFacts } from '../fields.ts'
import { statusOfGenericType } from '../genericEvent.ts'
import { emailAt } from '../lenient.ts'
import { ProviderError, type ProviderNotification, type ProviderReport } from '../provider.ts'
import { unreadableResponse } from '../responses.ts'
import { type Api, type Read, readTransaction, type Transaction } from './api.ts'
import { type Attempt, findAttempts } from './intents.ts'
import type { MerchantAccount } from './merchantAccount.ts'
import { isAboutTransaction } from './notifications.ts'
import {
  amountOf,
  isRefund,
  isTransactionId,
  ownInvoiceOf,
  paymentIdOf,
  reportedRefundOf,
  reversalsOf,
  statusOf,
  statusReportOf,
} from './transactions.ts'

/** The gateway's reporting API may not know a transaction for this long after its notification. */
const reportingLagMs = 15 * 60 * 1000

/**
 * Reads the transaction's current state, which may be newer than the notification. A notification that already names
 * its payment is returned unchanged.
 * @throws ProviderError, also while the reporting API may not know the transaction yet
 */
export async function completeNotification(
  merchant: MerchantAccount,
  notification: ProviderNotification,
): Promise<ProviderNotification> {
  const { provider_type, object_id } = notification
  if (notification.report || !isAboutTransaction(provider_type) || object_id === null || !isTransactionId(object_id))
    return notification
  const read = await readTransaction(merchant.api, object_id)
  if (!read) return throwUntilReported(notification)
  const currency = await merchant.currency()
  const response = { ...read, body: afterVoid(notification, read.body) }
  const { body: transaction } = response
  const completed = {
    ...notification,
    currency,
    status: transaction.transactionStatus.toLowerCase(),
    customer_id: transaction.profile?.customerProfileId ?? notification.customer_id,
    customer_email: emailAt(transaction, 'customer', 'email'),
  }
  if (isRefund(transaction)) return refundNotification(merchant.api, completed, response)
  const status = statusOf(transaction)
  const amount_cents = amountOf(transaction, status === 'succeeded' ? 'settleAmount' : 'authAmount')
  const withAmount = { ...completed, amount_cents }
  if (transaction.subscription) return invoiceNotification(withAmount, transaction.subscription)
  const referenced_payment_id = paymentIdOf(transaction.order?.invoiceNumber)
  // Every payment of ours has an invoice number of our form.
  if (notification.subscription || referenced_payment_id === null) return withAmount
  const report = await statusReport(merchant, withAmount, { ...response, status })
  return { ...withAmount, referenced_payment_id, report }
}

/** @throws ProviderError while the reporting API may not know the transaction yet */
function throwUntilReported(notification: ProviderNotification): ProviderNotification {
  if (Date.now() - Date.parse(notification.occurred_at) >= reportingLagMs) return notification
  throw new ProviderError('unknown', 'not_reported_yet', 'Authorize.Net does not report this transaction yet')
}

/** A void is final, even if the details do not show it yet. */
function afterVoid({ generic_type }: ProviderNotification, transaction: Transaction): Transaction {
  return generic_type === 'payment_intent.canceled' ? { ...transaction, transactionStatus: 'voided' } : transaction
}

/** A payment of a subscription's invoice is never one of our payments. */
function invoiceNotification(
  notification: ProviderNotification,
  { id, payNum }: NonNullable<Transaction['subscription']>,
): ProviderNotification {
  const { generic_type } = notification
  return {
    ...notification,
    generic_type: generic_type === 'payment_intent.succeeded' ? 'invoice.payment_succeeded' : generic_type,
    subscription: subscriptionFacts(id, { is_first_invoice: payNum === '1' }),
  }
}

/** A refund names the refunded transaction, but has an invoice number only if its creator gave one. */
async function refundNotification(
  api: Api,
  notification: ProviderNotification,
  response: Read<Transaction>,
): Promise<ProviderNotification> {
  const { body: transaction } = response
  const refunded = { ...notification, generic_type: null, amount_cents: amountOf(transaction, 'settleAmount') }
  const charge = transaction.refTransId && isTransactionId(transaction.refTransId) ? transaction.refTransId : null
  const original = charge === null ? null : await readTransaction(api, charge)
  const provider_intent_id = ownInvoiceOf((original ?? { body: transaction }).body)
  if (provider_intent_id === null) return refunded
  const { provider_event_id, currency } = notification
  const refund = reportedRefundOf(response, { provider_intent_id, provider_event_id, currency })
  if (refund === null) return refunded
  return { ...refunded, referenced_payment_id: paymentIdOf(provider_intent_id), report: { about: 'refund', ...refund } }
}

/** How far apart in time the attempts to pay one invoice can be. */
const attemptsMs = 24 * 60 * 60 * 1000

/**
 * Reports the payment's status. A voided, declined or failed transaction does not end a payment that another
 * transaction has paid or is paying, so the report is then about that one.
 *
 * A status that the event itself states has the event's time, so that an old event does not replace newer facts. Any
 * other status has the time of the gateway's response.
 * @param own the notification's transaction and the payment status that follows from it
 * @throws ProviderError, also when the other transactions cannot be read
 */
async function statusReport(
  merchant: MerchantAccount,
  { generic_type, occurred_at, provider_event_id, currency }: ProviderNotification,
  own: Attempt,
): Promise<ProviderReport> {
  const best = await bestAttempt(merchant, own, own.body.submitTimeUTC ?? occurred_at)
  const repeatsEvent = best === own && generic_type !== null && statusOfGenericType(generic_type) === own.status
  const provider_time = repeatsEvent ? occurred_at : best.responded_at
  const reversals = [...reversalsOf(own.body), ...(best === own ? [] : reversalsOf(best.body))]
  return {
    about: 'status',
    ...statusReportOf(best.body, best.status, { provider_time, provider_event_id, currency }),
    ...(reversals.length > 0 && { reversals }),
  }
}

async function bestAttempt({ api, lists }: MerchantAccount, own: Attempt, submittedAt: string): Promise<Attempt> {
  const invoiceNumber = ownInvoiceOf(own.body)
  if (invoiceNumber === null || (own.status !== 'failed' && own.status !== 'canceled')) return own
  const at = Date.parse(submittedAt)
  if (Number.isNaN(at)) throw unreadableResponse('unreadable_answer')
  const submitted = { first: at - attemptsMs, last: at + attemptsMs }
  const search = { api, lists, invoiceNumber, submitted, isWide: true, asOf: Date.now() }
  const { body } = await findAttempts(search, own)
  return body.attempts[0] ?? own
}
