// The routes in the order in which their examples are sent, and what the requests need beyond the examples.
import type { Route, Sent } from './documentedRoutes.ts'

/** The order matters: a resource is created before it is used, and deleted last. */
const inOrder = [
  ...['getLiveness', 'getReadiness', 'getMetrics'],
  ...['createProduct', 'updateProduct', 'getProduct', 'syncProducts'],
  ...['createAddress', 'updateAddress', 'getAddress', 'listAddresses'],
  ...['createSetupIntent', 'createPaymentMethod', 'updatePaymentMethod', 'getPaymentMethod', 'listPaymentMethods'],
  ...['createPaymentIntent', 'refreshPayment', 'getPayment', 'listPayments', 'getAnyPayment', 'getPaymentHistory'],
  ...['listRecordedEvents', 'listAnyPaymentMethods', 'listAnyAddresses', 'cancelPayment', 'getMonthlyReport'],
  ...['receiveStripeWebhook', 'receivePaypalWebhook', 'receiveAuthorizeNetWebhook', 'receiveSandboxWebhook'],
  ...['rebuildProjection', 'verifyProjection', 'getJob', 'cancelJob'],
  ...['testWebhooks', 'simulateWebhook', 'listWebhookLogs', 'getWebhookLog'],
  ...['enableWebhookEndpoint', 'redeliverFailedWebhooks', 'backfillWebhooks', 'testWebhookEndpoint'],
  ...['getEndpointStatistics', 'getWebhookDelivery', 'redeliverWebhook'],
  ...['checkProvider', 'createErasure', 'deletePaymentMethod', 'deleteAddress'],
]

/** The other reads of administrators need no resource: they come last, when there is something to show. */
export function scenarioOf(routes: readonly Route[]): readonly string[] {
  const reads = routes.filter(({ method, path }) => method === 'GET' && /^\/admin\/[^{]*$/.test(path))
  return [...new Set([...inOrder, ...reads.map(({ operationId = '' }) => operationId)])]
}

/** These need a payment that was authorized, and have their own test. */
export const ofAuthorized = ['capturePayment', 'createRefund', 'listRefunds', 'getRefund']

/** The queries that routes require. */
const requiredQueries: Readonly<Record<string, string>> = {
  getStatistics: '?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
  getEndpointStatistics: '?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
  getReport: '?from=2026-01-01&to=2026-02-01',
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
