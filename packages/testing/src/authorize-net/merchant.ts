// Actions of payers and the merchant, with the resulting notifications and charges.
import type { ChargeLedger } from '../fakeServer.ts'
import { type FakeEvent, transactionPayload } from './notifications.ts'
import type {
  ChargeSource,
  FakePayment,
  PaymentAttempt,
  RefundOrder,
  Transaction,
  Transactions,
} from './transactions.ts'

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
      Object.assign(transaction, {
        transactionStatus: 'capturedPendingSettlement',
        settleCents: cents,
        capturedCents: cents,
      })
      charge(transaction)
      notifyTransaction('payment.priorAuthCapture.created', transaction)
    },

    approveHeld(transId: string): void {
      const transaction = review(transactions, transId, 'capturedPendingSettlement', 1)
      transaction.capturedCents = transaction.settleCents
      charge(transaction)
      notifyTransaction('payment.fraud.approved', transaction)
    },

    declineHeld(transId: string): void {
      notifyTransaction('payment.fraud.declined', review(transactions, transId, 'failedReview', 2))
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

    /** @param order `invoiceNumber`: the merchant may give one, but need not */
    refund(transId: string, cents = transactions.find(transId).settleCents, order: RefundOrder = {}): Transaction {
      const refund = transactions.refund(transactions.find(transId), cents, order)
      notifyTransaction('payment.refund.created', refund)
      return refund
    },

    /** The bank returns an eCheck after its settlement. There is no notification about it. */
    returnCheck(transId: string): void {
      const charge = transactions.find(transId)
      if (charge.transactionStatus !== 'settledSuccessfully') throw new Error(`${transId} is not settled`)
      charge.returnedItems = [{ id: `${transId}1`, code: 'R01', description: 'Insufficient Funds' }]
    },

    settle: () => transactions.settle(),
  }
}

export type Merchant = ReturnType<typeof merchantOf>

function review(transactions: Transactions, transId: string, transactionStatus: string, responseCode: 1 | 2) {
  const reviewed = transactions.find(transId)
  if (reviewed.transactionStatus !== 'FDSPendingReview') throw new Error(`${transId} is not held`)
  return Object.assign(reviewed, { transactionStatus, responseCode, responseReasonCode: responseCode })
}
