// The methods of the JSON API.

import { valueAt } from '../jsonAt.ts'
import { AuthorizeNetApiError } from './callRefused.ts'
import type { ApiMethod } from './exchange.ts'
import type { Profiles } from './profiles.ts'
import { batchTransactions, settledBatches, transactionDetails, unsettledTransactions } from './reporting.ts'
import { textAt } from './requestMembers.ts'
import type { Transactions } from './transactions.ts'

/** @param currencies of the merchant account */
export function methodsOf(
  transactions: Transactions,
  profiles: Profiles,
  currencies: readonly string[],
): Readonly<Record<string, ApiMethod>> {
  const changing = (act: ApiMethod['act']): ApiMethod => ({ changes: true, act })
  const reading = (act: ApiMethod['act']): ApiMethod => ({ changes: false, act })
  return {
    getHostedPaymentPage: changing((request) => {
      const customerProfileId = textAt(request, 'transactionRequest', 'profile', 'customerProfileId')
      if (customerProfileId !== '') profiles.customer(customerProfileId)
      return { token: transactions.tokens.create(hostedRequestOf(request)) }
    }),
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
  const amount = /^(\d+)\.(\d\d)$/.exec(textAt(request, 'transactionRequest', 'amount'))
  if (!amount) throw new AuthorizeNetApiError('E00003', "The 'amount' element is invalid.")
  const settings = valueAt(request, 'transactionRequest', 'transactionSettings', 'setting')
  const duplicateWindow = Array.isArray(settings)
    ? settings.find((setting) => valueAt(setting, 'settingName') === 'duplicateWindow')
    : undefined
  return {
    invoiceNumber: textAt(request, 'transactionRequest', 'order', 'invoiceNumber') || null,
    amountCents: Number(`${amount[1]}${amount[2]}`),
    currency: textAt(request, 'transactionRequest', 'currencyCode') || 'USD',
    duplicateWindowSeconds: duplicateWindow ? Number(valueAt(duplicateWindow, 'settingValue')) : null,
  }
}
