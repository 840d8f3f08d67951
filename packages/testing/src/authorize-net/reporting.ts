// What the reporting calls answer about transactions and batches.
import { AuthorizeNetApiError } from './callRefused.ts'
import { decimal } from './decimals.ts'
import type { SettlementBatch, Transaction, Transactions } from './transactions.ts'

const maxRangeMs = 31 * 24 * 60 * 60 * 1000

type Listing = {
  readonly sorting?: { readonly orderBy?: string; readonly orderDescending?: boolean }
  readonly paging?: { readonly limit?: number | string; readonly offset?: number | string }
}

const second = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`

export function transactionDetails({ all }: Transactions, transId: unknown) {
  const found = all.find((transaction) => transaction.transId === transId)
  if (!found) throw new AuthorizeNetApiError('E00040', 'The record cannot be found.')
  return { transaction: detailsOf(found) }
}

function detailsOf(transaction: Transaction) {
  const { transId, refTransId, submittedAt, subscription, invoiceNumber, email, customerProfileId } = transaction
  return {
    transId,
    ...(refTransId === null ? {} : { refTransId }),
    submitTimeUTC: new Date(submittedAt).toISOString(),
    transactionType: transaction.transactionType,
    transactionStatus: transaction.transactionStatus,
    responseCode: transaction.responseCode,
    responseReasonCode: transaction.responseReasonCode,
    ...(subscription === null ? {} : { subscription }),
    ...(transaction.batchId === null ? {} : { batch: { batchId: transaction.batchId } }),
    ...(invoiceNumber === null ? {} : { order: { invoiceNumber } }),
    requestedAmountSpecified: false,
    authAmount: decimal(transaction.authCents),
    settleAmount: decimal(transaction.settleCents),
    payment: { creditCard: { cardNumber: 'XXXX1111', expirationDate: 'XXXX', cardType: 'Visa' } },
    ...(email === null ? {} : { customer: { typeSpecified: false, email } }),
    ...(customerProfileId === null ? {} : { profile: { customerProfileId } }),
    marketType: 'eCommerce',
  }
}

export function unsettledTransactions({ all }: Transactions, listing: Listing) {
  return pageOf(
    all.filter(({ batchId }) => batchId === null),
    listing,
  )
}

export function batchTransactions({ all, batches }: Transactions, batchId: unknown, listing: Listing) {
  if (!batches.some((batch) => batch.batchId === batchId))
    throw new AuthorizeNetApiError('E00040', 'The record cannot be found.')
  return pageOf(
    all.filter((transaction) => transaction.batchId === batchId),
    listing,
  )
}

export function settledBatches({ batches }: Transactions, first: unknown, last: unknown) {
  const from = Date.parse(String(first))
  const to = Date.parse(String(last))
  if (Number.isNaN(from) || Number.isNaN(to) || to < from || to - from > maxRangeMs)
    throw new AuthorizeNetApiError('E00013', 'The date range is invalid.')
  const found = batches.filter(({ settledAt }) => settledAt >= from && settledAt <= to)
  return found.length === 0 ? {} : { batchList: found.map(batchSummaryOf) }
}

function batchSummaryOf({ batchId, settledAt }: SettlementBatch) {
  return {
    batchId,
    settlementTimeUTC: second(settledAt),
    settlementTimeUTCSpecified: true,
    settlementState: 'settledSuccessfully',
    paymentMethod: 'creditCard',
  }
}

function pageOf(transactions: readonly Transaction[], { sorting, paging }: Listing) {
  const direction = sorting?.orderDescending ? -1 : 1
  const limit = Number(paging?.limit ?? 1000)
  const start = (Number(paging?.offset ?? 1) - 1) * limit
  const found = transactions
    .toSorted((a, b) => direction * (a.submittedAt - b.submittedAt || Number(a.transId) - Number(b.transId)))
    .slice(start, start + limit)
  return found.length === 0 ? {} : { transactions: found.map(summaryOf), totalNumInResultSet: found.length }
}

function summaryOf(transaction: Transaction) {
  const { transId, submittedAt, transactionStatus, invoiceNumber, settleCents } = transaction
  return {
    transId,
    submitTimeUTC: second(submittedAt),
    transactionStatus,
    ...(invoiceNumber === null ? {} : { invoiceNumber }),
    accountType: 'Visa',
    accountNumber: 'XXXX1111',
    settleAmount: decimal(settleCents),
    marketType: 'eCommerce',
    hasReturnedItemsSpecified: false,
  }
}
