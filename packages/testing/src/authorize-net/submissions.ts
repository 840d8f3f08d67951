// The fake's transactions that refer to another one: voids, captures and refunds, with the gateway's reason codes.
import { valueAt } from '../fakeServer.ts'
import { restOf } from './balances.ts'
import type { Merchant } from './merchant.ts'
import { type ApiMethod, AuthorizeNetApiError, textAt } from './server.ts'
import { defaultDuplicateWindowSeconds, type Transaction, type Transactions } from './transactions.ts'

/** https://developer.authorize.net/api/reference/responseCodes.html */
const reasons: Readonly<Record<string, string>> = {
  '2': 'This transaction has been declined.',
  '11': 'A duplicate transaction has been submitted.',
  '16': 'The transaction cannot be found.',
  '47': 'The amount requested for settlement cannot be greater than the original amount authorized.',
  '54': 'The referenced transaction does not meet the criteria for issuing a credit.',
  '55': 'The sum of credits against the referenced transaction would exceed original debit amount.',
}

const emptyResponse = { authCode: '', avsResultCode: 'P', cvvResultCode: '', testRequest: '0', transHash: '' }

/** The error for a transaction that was not approved. */
export function unsuccessful(reasonCode: string, responseCode: 2 | 3 = 3): AuthorizeNetApiError {
  const errors = [{ errorCode: reasonCode, errorText: reasons[reasonCode] ?? 'Planned reason.' }]
  const transactionResponse = { responseCode: String(responseCode), ...emptyResponse, transId: '0', errors }
  return new AuthorizeNetApiError('E00027', 'The transaction was unsuccessful.', { transactionResponse })
}

function approved(transId: string, code = '1') {
  const messages = [{ code, description: 'This transaction has been approved.' }]
  return { transactionResponse: { responseCode: '1', ...emptyResponse, transId, messages } }
}

/** @throws AuthorizeNetApiError unless it has two decimals */
export function centsAt(request: unknown, ...path: readonly string[]): number {
  const amount = /^(\d+)\.(\d\d)$/.exec(textAt(request, ...path))
  if (!amount) throw new AuthorizeNetApiError('E00003', "The 'amount' element is invalid.")
  return Number(`${amount[1]}${amount[2]}`)
}

export function duplicateWindowOf(request: unknown): number | null {
  const settings = valueAt(request, 'transactionRequest', 'transactionSettings', 'setting')
  const found = Array.isArray(settings)
    ? settings.find((setting) => valueAt(setting, 'settingName') === 'duplicateWindow')
    : undefined
  return found ? Number(valueAt(found, 'settingValue')) : null
}

/** Performs `createTransaction`. */
export function submissionsTo(transactions: Transactions, merchant: Merchant): ApiMethod['act'] {
  return (request) => {
    const original = transactions.all.find(
      ({ transId }) => transId === textAt(request, 'transactionRequest', 'refTransId'),
    )
    if (!original) throw unsuccessful('16')
    switch (textAt(request, 'transactionRequest', 'transactionType')) {
      case 'voidTransaction':
        return voided(original)
      case 'priorAuthCaptureTransaction':
        return captured(original, centsAt(request, 'transactionRequest', 'amount'))
      case 'refundTransaction':
        return refunded(original, request)
      default:
        throw new AuthorizeNetApiError('E00003', "The 'transactionType' element is invalid.")
    }
  }

  function voided({ transId, transactionStatus, batchId }: Transaction) {
    if (transactionStatus === 'voided') return approved(transId, '310')
    if (batchId !== null || /declined|error|Review/i.test(transactionStatus)) throw unsuccessful('16')
    merchant.voidTransaction(transId)
    return approved(transId)
  }

  function captured({ transId, transactionStatus, authCents, capturedCents }: Transaction, cents: number) {
    if (transactionStatus !== 'authorizedPendingCapture') {
      if (capturedCents > 0 && transactionStatus !== 'voided') return approved(transId, '311')
      throw unsuccessful('16')
    }
    if (cents > authCents) throw unsuccessful('47')
    merchant.capture(transId, cents)
    return approved(transId)
  }

  function refunded(original: Transaction, request: Parameters<ApiMethod['act']>[0]) {
    const cents = centsAt(request, 'transactionRequest', 'amount')
    const text = (...path: readonly string[]) => textAt(request, 'transactionRequest', ...path) || null
    const order = {
      invoiceNumber: text('order', 'invoiceNumber'),
      description: text('order', 'description'),
      poNumber: text('poNumber'),
    }
    const windowMs = (duplicateWindowOf(request) ?? defaultDuplicateWindowSeconds) * 1000
    const isDuplicate = transactions.all.some(
      (earlier) =>
        earlier.refTransId === original.transId &&
        earlier.responseCode === 1 &&
        earlier.authCents === cents &&
        earlier.invoiceNumber === order.invoiceNumber &&
        earlier.poNumber === order.poNumber &&
        transactions.now() - earlier.submittedAt < windowMs,
    )
    if (isDuplicate) throw unsuccessful('11')
    const { cardNumber } = Object(valueAt(request, 'transactionRequest', 'payment', 'creditCard'))
    if (original.transactionStatus !== 'settledSuccessfully' || cardNumber !== '1111') throw unsuccessful('54')
    if (cents > restOf(transactions.all, original)) throw unsuccessful('55')
    return approved(merchant.refund(original.transId, cents, order).transId)
  }
}
