// The paths of the whole API and their methods. Each side serves a part of them, and has to know the rest to tell a wrong
// method (405) from an unknown path (404). The receivers of provider webhooks are not listed: whether a provider is enabled is
// not for strangers to learn, so anything but its notifications is 404.

export const apiPaths: Readonly<Record<string, readonly string[]>> = {
  '/payments': ['GET'],
  '/payments/intents': ['POST'],
  '/payments/{id}': ['GET'],
  '/admin/payments/{id}': ['GET'],
  '/admin/payments/{id}/history': ['GET'],
  '/payment-methods': ['GET', 'POST'],
  '/payment-methods/setup-intent': ['POST'],
  '/payment-methods/{id}': ['DELETE', 'GET', 'PUT'],
  '/addresses': ['GET', 'POST'],
  '/addresses/{id}': ['DELETE', 'GET', 'PUT'],
  '/admin/products': ['GET', 'POST'],
  '/admin/products/{id}': ['GET', 'PUT'],
  '/admin/sync/products': ['POST'],
  '/webhooks/external/simulate': ['POST'],
  '/webhooks/logs': ['GET'],
  '/webhooks/logs/{id}': ['GET'],
  '/webhooks/test': ['POST'],
}

const patterns = Object.entries(apiPaths).map(([path, methods]) => ({
  pattern: new RegExp(`^${path.replace('{id}', '[^/]+')}$`),
  methods,
}))

/** @returns the methods of a path of the API, HEAD beside GET; none when there is no such path */
export function methodsOf(path: string): readonly string[] {
  const methods = patterns.flatMap(({ pattern, methods }) => (pattern.test(path) ? methods : []))
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].sort()
}
