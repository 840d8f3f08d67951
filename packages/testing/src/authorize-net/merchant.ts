// Actions of payers and the merchant, with the resulting notifications and charges.
import type { ChargeLedger } from '../fakeServer.ts'
import { type FakeEvent, transactionPayload } from './notifications.ts'
import type { ChargeSource, FakePayment, PaymentAttempt, Transaction, Transactions } from './transactions.ts'

type Notify = (eventType: string, payload: object) => FakeEvent

const eventOfPayment: Readonly<Record<string, string>> = {
  capturedPendingSettlement: 'payment.authcapture.created',
  authorizedPendingCapture: 'payment.authorization.created',
  FDSPendingReview: 'payment.fraud.held',
}

export function merchantOf(transactions: Transactions, ledger: ChargeLedger, notify: Notify) {
  const notifyTransaction = (eventType: string, transaction: Transaction) =>
    notify(eventType, transactionPayload(transaction))

  function charge({ transId, invoiceNumber, settleCents, currency, subscription }: Transaction): void {
    const isOfAPayment = invoiceNumber !== null && subscription === null
    ledger.add({
      charge_id: transId,
      intent_id: invoiceNumber ?? transId,
      // The provider identifies a payment only by its invoice number.
      payment_id: isOfAPayment ? invoiceNumber : null,
      amount_cents: settleCents,
      currency,
    })
  }

  function review(transId: string, transactionStatus: string, responseCode: 1 | 2): Transaction {
    const reviewed = transactions.find(transId)
    if (reviewed.transactionStatus !== 'FDSPendingReview') throw new Error(`${transId} is not held`)
    return Object.assign(reviewed, { transactionStatus, responseCode, responseReasonCode: responseCode })
  }

  return {
    ledger,

    /** A payer submits the form, or the merchant charges without one. Declined attempts send no notification. */
    pay(source: ChargeSource, payment: FakePayment = {}): PaymentAttempt {
      const { attempt, transaction } = transactions.pay(source, payment)
      if (!transaction) return attempt
      if (transaction.transactionStatus === 'capturedPendingSettlement') charge(transaction)
      const eventType = eventOfPayment[transaction.transactionStatus]
      if (eventType) notifyTransaction(eventType, transaction)
      return attempt
    },

    /** Captures an authorized transaction. */
    capture(transId: string, cents = transactions.find(transId).authCents): void {
      const transaction = transactions.find(transId)
      if (transaction.transactionStatus !== 'authorizedPendingCapture') throw new Error(`${transId} is not authorized`)
      Object.assign(transaction, { transactionStatus: 'capturedPendingSettlement', settleCents: cents })
      charge(transaction)
      notifyTransaction('payment.priorAuthCapture.created', transaction)
    },

    approveHeld(transId: string): void {
      const transaction = review(transId, 'capturedPendingSettlement', 1)
      charge(transaction)
      notifyTransaction('payment.fraud.approved', transaction)
    },

    declineHeld(transId: string): void {
      notifyTransaction('payment.fraud.declined', review(transId, 'failedReview', 2))
    },

    /** Voids an unsettled transaction. */
    voidTransaction(transId: string): void {
      const transaction = transactions.find(transId)
      if (transaction.batchId !== null) throw new Error(`${transId} is settled`)
      notifyTransaction(
        'payment.void.created',
        Object.assign(transaction, { transactionStatus: 'voided', settleCents: 0 }),
      )
    },

    /** @param options `invoiceNumber`: the merchant may give one, but need not */
    refund(
      transId: string,
      cents = transactions.find(transId).settleCents,
      { invoiceNumber = null }: { readonly invoiceNumber?: string | null } = {},
    ): Transaction {
      const refund = transactions.refund(transactions.find(transId), cents, invoiceNumber)
      notifyTransaction('payment.refund.created', refund)
      return refund
    },

    settle: () => transactions.settle(),
  }
}
