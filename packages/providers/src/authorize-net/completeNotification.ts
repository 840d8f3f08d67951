// What a notification about a transaction leaves out, asked of the gateway: the invoice, the amount, and its meaning.
import type { PaymentStatus } from '@paylog/domain/payments/status'
import type { ProviderNotification, Statement } from '../provider.ts'
import type { Transaction } from './answers.ts'
import { type Answer, type Api, type Deadline, startDeadline } from './api.ts'
import { isAboutTransaction } from './eventTypes.ts'
import { amountOf, evidenceOf, ownInvoiceOf } from './evidence.ts'
import { readTransaction } from './retrieveIntent.ts'
import { isRefund, isRefunded, statusOf } from './statuses.ts'

/**
 * The answer is the transaction's present state, which may be later than the notification; the statement is therefore of
 * the answer's time.
 * @throws ProviderError
 */
export async function completeNotification(
  api: Api,
  timeoutMs: number,
  notification: ProviderNotification,
): Promise<ProviderNotification> {
  const { provider_type, object_id } = notification
  if (!isAboutTransaction(provider_type) || object_id === null || !isTransactionId(object_id)) return notification
  const deadline = startDeadline(timeoutMs)
  const answer = await readTransaction(api, object_id, deadline)
  if (!answer) return notification
  const { body: transaction } = answer
  const completed = {
    ...notification,
    status: transaction.transactionStatus.toLowerCase(),
    customer_id: transaction.profile?.customerProfileId ?? notification.customer_id,
    customer_email: emailOf(transaction),
  }
  if (isRefund(transaction)) return refund(api, deadline, completed, answer)
  const status = statusAfter(notification, transaction)
  const evidence = evidenceOf(transaction, status, {
    provider_time: answer.answered_at,
    provider_event_id: notification.provider_event_id,
  })
  const { amount_cents } = evidence
  if (transaction.subscription) return invoice({ ...completed, amount_cents }, transaction.subscription)
  if (notification.subscription) return { ...completed, amount_cents }
  return { ...completed, amount_cents, statement: { about: 'status', ...evidence } }
}

/** An id that is none would be refused, and the notification would be tried for ever. */
const isTransactionId = (text: string) => /^[0-9]{1,20}$/.test(text)

/** A void is final: the details cannot say anything else for long. */
function statusAfter({ generic_type }: ProviderNotification, transaction: Transaction): PaymentStatus {
  return generic_type === 'payment_intent.canceled' ? 'canceled' : statusOf(transaction)
}

/** The payment of a subscription's invoice, which is never a payment of ours. */
function invoice(
  notification: ProviderNotification,
  { id, payNum }: NonNullable<Transaction['subscription']>,
): ProviderNotification {
  const { generic_type } = notification
  return {
    ...notification,
    generic_type: generic_type === 'payment_intent.succeeded' ? 'invoice.payment_succeeded' : generic_type,
    subscription: {
      subscription_id: id,
      current_period_end: null,
      status_changed: false,
      is_first_invoice: payNum === '1',
    },
  }
}

/**
 * A refund names the transaction that it gives back, and carries an invoice number only if whoever made it gave one. One
 * that was refused or voided gave nothing back.
 */
async function refund(
  api: Api,
  deadline: Deadline,
  notification: ProviderNotification,
  { body: transaction, answered_at }: Answer<Transaction>,
): Promise<ProviderNotification> {
  const refunded_cents = amountOf(transaction, 'settleAmount')
  const told = { ...notification, generic_type: null, amount_cents: refunded_cents }
  if (!isRefunded(transaction)) return told
  const charge = transaction.refTransId && isTransactionId(transaction.refTransId) ? transaction.refTransId : null
  const original = charge === null ? null : await readTransaction(api, charge, deadline)
  const statement: Statement = {
    about: 'refund',
    provider_time: answered_at,
    provider_event_id: notification.provider_event_id,
    provider_intent_id: original ? ownInvoiceOf(original.body) : ownInvoiceOf(transaction),
    provider_payment_id: charge,
    refund_id: transaction.transId,
    refunded_cents,
  }
  return { ...told, statement }
}

function emailOf({ customer }: Transaction): string | null {
  const email = customer?.email ?? ''
  return /^[^\s\p{C}]+@[^\s\p{C}]+$/u.test(email) && email.length <= 255 ? email : null
}
