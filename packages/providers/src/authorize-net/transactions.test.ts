// Exact amounts, and the payment status that follows from a transaction's status and response code.
import t from 'tap'
import { parseExactJson } from '../responses.ts'
import { amountOf, centsOf, isRefund, statusOf, toDecimal } from './transactions.ts'

t.test('Authorize.Net: cents are written as a decimal with two places', async (t) => {
  const decimals = { 1: '0.01', 10: '0.10', 725: '7.25', 100: '1.00', 1999: '19.99', 999999999999: '9999999999.99' }
  for (const [cents, decimal] of Object.entries(decimals)) {
    t.equal(toDecimal(Number(cents)), decimal)
    t.equal(centsOf(decimal), Number(cents), 'read back')
  }
})

t.test('Authorize.Net: decimals are read as exact cents, with any number of zeros', async (t) => {
  const cents = {
    '7.25': 725,
    '0.0': 0,
    '19.990': 1999,
    '7': 700,
    '7.5': 750,
    '1018.88': 101_888,
    '0.29': 29,
    '1.005000': null,
    '19.991': null,
    '0.07': 7,
    '4.35': 435,
    '1.1': 110,
  }
  for (const [decimal, expected] of Object.entries(cents)) t.equal(centsOf(decimal), expected, decimal)
  for (const none of ['', '-1.00', '1e3', '1.', '.5', '1,00', 'NaN']) t.equal(centsOf(none), null, none)
})

t.test('Authorize.Net: a transaction amount with a fraction of a cent is unreadable', async (t) => {
  const transaction = {
    transId: '1',
    transactionType: 'authCaptureTransaction',
    transactionStatus: 'settledSuccessfully',
    responseCode: '1',
    authAmount: '25.99',
    settleAmount: '25.995',
  }
  t.equal(amountOf(transaction, 'authAmount'), 2599)
  t.throws(() => amountOf(transaction, 'settleAmount'), { kind: 'unknown', code: 'unreadable_answer' })
})

t.test('parseExactJson keeps numbers as their text', async (t) => {
  t.strictSame(parseExactJson('{"a":7.25,"b":[0.0,19.990,60022194830],"c":"7.25","d":true,"e":null}'), {
    a: '7.25',
    b: ['0.0', '19.990', '60022194830'],
    c: '7.25',
    d: true,
    e: null,
  })
  t.equal(parseExactJson('{"half":'), undefined)
})

const authCapture = 'authCaptureTransaction'

t.test('Authorize.Net: each transaction status maps to a payment status', async (t) => {
  const words = {
    processing: [
      'authorizedPendingCapture',
      'authorizedPendingRelease',
      'FDSPendingReview',
      'FDSAuthorizedPendingReview',
      'underReview',
    ],
    succeeded: [
      'capturedPendingSettlement',
      'pendingSettlement',
      'updatingSettlement',
      'pendingFinalSettlement',
      'settledSuccessfully',
      'chargeback',
      'chargebackReversal',
    ],
    failed: [
      'declined',
      'expired',
      'failedReview',
      'communicationError',
      'generalError',
      'settlementError',
      'returnedItem',
    ],
    canceled: ['voided'],
  }
  for (const [status, transactionStatuses] of Object.entries(words))
    for (const transactionStatus of transactionStatuses)
      t.equal(
        statusOf({ transactionType: authCapture, transactionStatus, responseCode: '1' }),
        status,
        transactionStatus,
      )
})

t.test('Authorize.Net: for an unknown transaction status, response code and type decide', async (t) => {
  const cases = [
    [authCapture, '1', 'succeeded'],
    ['captureOnlyTransaction', '1', 'succeeded'],
    ['priorAuthCaptureTransaction', '1', 'succeeded'],
    ['authOnlyTransaction', '1', 'processing'],
    [authCapture, '4', 'processing'],
    [authCapture, '0', 'processing'],
    [authCapture, '2', 'failed'],
    [authCapture, '3', 'failed'],
  ] as const
  for (const [transactionType, responseCode, status] of cases)
    for (const transactionStatus of ['approvedReview', ...(status === 'succeeded' ? [] : ['somethingNew'])])
      t.equal(
        statusOf({ transactionType, transactionStatus, responseCode }),
        status,
        `${transactionType} ${responseCode}`,
      )
})

t.test('Authorize.Net: an approved transaction with an unknown status throws unknown_status', async (t) => {
  for (const transactionType of [authCapture, 'captureOnlyTransaction', 'priorAuthCaptureTransaction'])
    for (const transactionStatus of ['somethingNew', 'constructor', ''])
      t.throws(() => statusOf({ transactionType, transactionStatus, responseCode: '1' }), {
        name: 'ProviderError',
        kind: 'unknown',
        code: 'unknown_status',
      })
})

t.test('Authorize.Net: a refund is recognised by its type or its status', async (t) => {
  t.ok(isRefund({ transactionStatus: 'refundPendingSettlement' }))
  t.ok(isRefund({ transactionStatus: 'refundSettledSuccessfully' }))
  t.ok(isRefund({ transactionType: 'refundTransaction', transactionStatus: 'voided' }))
  t.notOk(isRefund({ transactionType: authCapture, transactionStatus: 'settledSuccessfully' }))
})
