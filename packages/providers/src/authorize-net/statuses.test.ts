// Mapping the gateway's transaction statuses and response codes to payment statuses.
import t from 'tap'
import { isRefund, statusOf } from './statuses.ts'

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
