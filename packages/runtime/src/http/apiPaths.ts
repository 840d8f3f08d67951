// The paths of the whole API and their methods. Each API serves a part of them and needs the rest to distinguish a
// wrong method (405) from an unknown path (404). Receivers of provider webhooks are not listed, so that other methods
// are 404 and do not reveal which providers are enabled.

export const apiPaths: Readonly<Record<string, readonly string[]>> = {
  '/payments': ['GET'],
  '/payments/intents': ['POST'],
  '/payments/{id}': ['GET'],
  '/payments/{id}/refunds': ['GET', 'POST'],
  '/payments/{id}/refunds/{refund_id}': ['GET'],
  '/admin/payments': ['GET'],
  '/admin/payments/{id}': ['GET'],
  '/admin/payments/{id}/history': ['GET'],
  '/admin/payments/{id}/events': ['GET'],
  '/admin/payments/{id}/proof': ['GET'],
  '/payments/{id}/cancel': ['POST'],
  '/payments/{id}/capture': ['POST'],
  '/payments/{id}/refresh': ['POST'],
  '/payment-methods': ['GET', 'POST'],
  '/payment-methods/setup-intent': ['POST'],
  '/payment-methods/{id}': ['DELETE', 'GET', 'PUT'],
  '/addresses': ['GET', 'POST'],
  '/addresses/{id}': ['DELETE', 'GET', 'PUT'],
  '/admin/webhook-endpoints': ['GET'],
  '/admin/webhook-endpoints/{endpoint}/enable': ['POST'],
  '/admin/webhook-endpoints/{endpoint}/redeliver': ['POST'],
  '/admin/webhook-endpoints/{endpoint}/backfill': ['POST'],
  '/admin/webhook-endpoints/{endpoint}/test': ['POST'],
  '/admin/webhook-endpoints/{endpoint}/statistics': ['GET'],
  '/admin/webhook-deliveries': ['GET'],
  '/admin/webhook-deliveries/{id}': ['GET'],
  '/admin/webhook-deliveries/{id}/redeliver': ['POST'],
  '/admin/events': ['GET'],
  '/admin/payment-methods': ['GET'],
  '/admin/addresses': ['GET'],
  '/admin/stats': ['GET'],
  '/admin/audit-trail': ['GET'],
  '/admin/refunds': ['GET'],
  '/admin/disputes': ['GET'],
  '/admin/reports': ['GET'],
  '/admin/reports/{month}': ['GET'],
  '/admin/products': ['GET', 'POST'],
  '/admin/products/{id}': ['GET', 'PUT'],
  '/admin/sync/products': ['POST'],
  '/admin/me': ['GET'],
  '/admin/system': ['GET'],
  '/admin/attention': ['GET'],
  '/admin/providers': ['GET'],
  '/admin/providers/{id}/check': ['POST'],
  '/admin/events/checkpoint': ['GET'],
  '/admin/privacy/erasures': ['GET', 'POST'],
  '/admin/projections': ['GET'],
  '/admin/projections/{name}/rebuild': ['POST'],
  '/admin/projections/{name}/verify': ['POST'],
  '/admin/jobs': ['GET'],
  '/admin/jobs/{id}': ['GET'],
  '/admin/jobs/{id}/cancel': ['POST'],
  '/webhooks/external/simulate': ['POST'],
  '/webhooks/logs': ['GET'],
  '/webhooks/logs/{id}': ['GET'],
  '/webhooks/test': ['POST'],
}

const patterns = Object.entries(apiPaths).map(([path, methods]) => ({
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  methods,
}))

/** @returns the methods of an API path, with HEAD for GET; none for an unknown path */
export function methodsOf(path: string): readonly string[] {
  const methods = patterns.flatMap(({ pattern, methods }) => (pattern.test(path) ? methods : []))
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].sort()
}
