// The methods of the fake's JSON API: hosted pages, reporting and profiles.

import { valueAt } from '../fakeServer.ts'
import type { Profiles } from './profiles.ts'
import { type ApiMethod, AuthorizeNetApiError, decimal, textAt } from './server.ts'
import { centsAt, duplicateWindowOf } from './submissions.ts'
import type { SettlementBatch, Transaction, Transactions } from './transactions.ts'

const maxRangeMs = 31 * 24 * 60 * 60 * 1000

type Listing = {
  readonly sorting?: { readonly orderBy?: string; readonly orderDescending?: boolean }
  readonly paging?: { readonly limit?: number | string; readonly offset?: number | string }
}

const second = (time: number) => `${new Date(time).toISOString().slice(0, 19)}Z`

function transactionDetails({ all }: Transactions, transId: unknown) {
  const found = all.find((transaction) => transaction.transId === transId)
  if (!found) throw new AuthorizeNetApiError('E00040', 'The record cannot be found.')
  return { transaction: detailsOf(found) }
}

function detailsOf(transaction: Transaction) {
  const { transId, refTransId, submittedAt, subscription, email, customerProfileId, returnedItems } = transaction
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
    ...orderOf(transaction),
    requestedAmountSpecified: false,
    authAmount: decimal(transaction.authCents),
    settleAmount: decimal(transaction.settleCents),
    payment: { creditCard: { cardNumber: 'XXXX1111', expirationDate: 'XXXX', cardType: 'Visa' } },
    ...(email === null ? {} : { customer: { typeSpecified: false, email } }),
    ...(customerProfileId === null ? {} : { profile: { customerProfileId } }),
    ...(returnedItems.length === 0 ? {} : { returnedItems }),
    marketType: 'eCommerce',
  }
}

function orderOf({ invoiceNumber, description, poNumber }: Transaction) {
  const order = {
    ...(invoiceNumber === null ? {} : { invoiceNumber }),
    ...(description === null ? {} : { description }),
    ...(poNumber === null ? {} : { purchaseOrderNumber: poNumber }),
  }
  return Object.keys(order).length === 0 ? {} : { order }
}

function unsettledTransactions({ all }: Transactions, listing: Listing) {
  return pageOf(
    all.filter(({ batchId }) => batchId === null),
    listing,
  )
}

function batchTransactions({ all, batches }: Transactions, batchId: unknown, listing: Listing) {
  if (!batches.some((batch) => batch.batchId === batchId))
    throw new AuthorizeNetApiError('E00040', 'The record cannot be found.')
  return pageOf(
    all.filter((transaction) => transaction.batchId === batchId),
    listing,
  )
}

function settledBatches({ batches }: Transactions, first: unknown, last: unknown) {
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

/** @param account `currencies` of the merchant, and `submit` for transactions */
export function methodsOf(
  transactions: Transactions,
  profiles: Profiles,
  { currencies, submit }: { readonly currencies: readonly string[]; readonly submit: ApiMethod['act'] },
): Readonly<Record<string, ApiMethod>> {
  const changing = (act: ApiMethod['act']): ApiMethod => ({ changes: true, act })
  const reading = (act: ApiMethod['act']): ApiMethod => ({ changes: false, act })
  return {
    getHostedPaymentPage: changing((request) => {
      const customerProfileId = textAt(request, 'transactionRequest', 'profile', 'customerProfileId')
      if (customerProfileId !== '') profiles.customer(customerProfileId)
      return { token: transactions.tokens.create(hostedRequestOf(request)) }
    }),
    createTransaction: changing(submit),
    authenticateTest: reading(() => ({})),
    getMerchantDetails: reading(() => merchantDetails(currencies)),
    getTransactionDetails: reading(({ transId }) => transactionDetails(transactions, transId)),
    getUnsettledTransactionList: reading((request) => unsettledTransactions(transactions, request)),
    getTransactionList: reading((request) => batchTransactions(transactions, request.batchId, request)),
    getSettledBatchList: reading((request) =>
      settledBatches(transactions, request.firstSettlementDate, request.lastSettlementDate),
    ),
    createCustomerProfile: changing((request) => profiles.createCustomer(valueAt(request, 'profile'))),
    createCustomerPaymentProfile: changing((request) =>
      profiles.createMethod(
        textAt(request, 'customerProfileId'),
        textAt(request, 'paymentProfile', 'payment', 'opaqueData', 'dataValue'),
      ),
    ),
    getCustomerPaymentProfile: reading((request) =>
      profiles.readMethod(
        textAt(request, 'customerProfileId'),
        textAt(request, 'customerPaymentProfileId'),
        request.unmaskExpirationDate,
      ),
    ),
    deleteCustomerProfile: changing((request) => {
      profiles.deleteCustomer(textAt(request, 'customerProfileId'))
      return {}
    }),
    deleteCustomerPaymentProfile: changing((request) =>
      profiles.deleteMethod(textAt(request, 'customerProfileId'), textAt(request, 'customerPaymentProfileId')),
    ),
  }
}

function merchantDetails(currencies: readonly string[]) {
  return {
    isTestMode: false,
    processors: [{ name: 'Example Processor', id: 2, cardTypes: ['A', 'D', 'M', 'V'] }],
    merchantName: 'Example Shop',
    gatewayId: '565697',
    marketTypes: ['eCommerce'],
    productCodes: ['CNP'],
    paymentMethods: ['AmericanExpress', 'Discover', 'MasterCard', 'Visa'],
    currencies,
    publicClientKey: 'example-public-client-key',
  }
}

function hostedRequestOf(request: unknown) {
  return {
    invoiceNumber: textAt(request, 'transactionRequest', 'order', 'invoiceNumber') || null,
    amountCents: centsAt(request, 'transactionRequest', 'amount'),
    currency: textAt(request, 'transactionRequest', 'currencyCode') || 'USD',
    duplicateWindowSeconds: duplicateWindowOf(request),
    authOnly: textAt(request, 'transactionRequest', 'transactionType') === 'authOnlyTransaction',
  }
}
