// The routes in the order in which their examples are sent, and what the requests need beyond the examples.
import type { Route, Sent } from './documentedRoutes.ts'

/** The order matters: a resource is created before it is used, and deleted last. */
export const scenario = [
  ...['getLiveness', 'getReadiness', 'getMetrics'],
  ...['createProduct', 'updateProduct', 'getProduct', 'listProducts', 'syncProducts'],
  ...['createAddress', 'updateAddress', 'getAddress', 'listAddresses'],
  ...['createSetupIntent', 'createPaymentMethod', 'updatePaymentMethod', 'getPaymentMethod', 'listPaymentMethods'],
  ...['createPaymentIntent', 'refreshPayment', 'getPayment', 'listPayments', 'getAnyPayment', 'getPaymentHistory'],
  ...['listRecordedEvents', 'listAnyPaymentMethods', 'listAnyAddresses'],
  ...['listAnyPayments', 'getStatistics', 'listDisputes', 'cancelPayment'],
  ...['receiveStripeWebhook', 'receivePaypalWebhook', 'receiveAuthorizeNetWebhook', 'receiveSandboxWebhook'],
  ...['getSystem', 'listProjections', 'rebuildProjection', 'verifyProjection', 'getJob', 'listJobs', 'cancelJob'],
  ...['testWebhooks', 'simulateWebhook', 'listWebhookLogs', 'getWebhookLog'],
  ...['listWebhookEndpoints', 'enableWebhookEndpoint', 'redeliverFailedWebhooks', 'backfillWebhooks'],
  ...['listWebhookDeliveries', 'getWebhookDelivery', 'redeliverWebhook', 'exportEvents', 'listAuditTrail'],
  ...['findExportCheckpoint', 'createErasure', 'listErasures'],
  ...['deletePaymentMethod', 'deleteAddress'],
]

/** These need a payment that was authorized, and have their own test. */
export const ofAuthorized = ['capturePayment', 'createRefund', 'listRefunds', 'getRefund']

/** The queries that routes require. */
const requiredQueries: Readonly<Record<string, string>> = {
  getStatistics: '?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
  listAnyPaymentMethods: '?user_id=00000000-0000-4000-8000-000000000003',
  listAnyAddresses: '?guest_email=guest@example.com',
  findExportCheckpoint: '?last_position=1&count=1',
}
export const requiredQuery = ({ operationId = '' }: Route): Sent => {
  const query = requiredQueries[operationId]
  return query === undefined ? {} : { query }
}

/** The resource that the path names. */
export const resourceOf = ({ path }: Route) =>
  path
    .replace('/admin/payments', '/payments')
    .replace(/.*\{name\}.*/, '/admin/jobs')
    .replace(/\/(intents$|\{id\}.*)/, '')
