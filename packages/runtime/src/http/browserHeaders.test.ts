import { DomainError } from '@paylog/domain/errors'
import t, { type Test } from 'tap'
import { apiHarness } from '../testing/apiHarness.ts'
import { sendRaw } from '../testing/rawClient.ts'

const shop = 'https://shop.example.com'

async function api(t: Test, variables: Readonly<Record<string, string>> = {}) {
  const { url } = await apiHarness(t, { RATE_LIMIT_PER_MINUTE: '1', ...variables }, async (http) => {
    http.get('/things', async (_request, reply) => reply.header('etag', '"1"').send({}))
    http.put('/things', async () => ({}))
    http.get('/forbidden', async () => {
      throw new DomainError('forbidden', 'No')
    })
  })
  return url
}

async function raw(t: Test, url: string, bytes: string): Promise<Response> {
  const [head = '', body = ''] = (await sendRaw(t, url, bytes)).split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = lines.map((line): [string, string] => [line.split(': ')[0] ?? '', line.split(': ')[1] ?? ''])
  return new Response(body, { status: Number(first.split(' ')[1]), headers })
}

t.test('every response has the security headers, including errors before and after all hooks', async (t) => {
  const url = await api(t)
  const caller = { headers: { 'x-session-id': 'ada' } }
  const responses = [
    [200, await fetch(`${url}/things`, caller)],
    [429, await fetch(`${url}/things`, caller)],
    [403, await fetch(`${url}/forbidden`)],
    [404, await fetch(`${url}/nowhere`)],
    [404, await fetch(`${url}/things`, { method: 'OPTIONS' })],
    [400, await fetch(`${url}/things/%zz`)],
    [400, await raw(t, url, 'GET /things HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n')],
    [200, await fetch(`${url}/health/live`)],
    [200, await fetch(`${url}/metrics`)],
  ] as const
  for (const [status, { status: found, headers }] of responses) {
    t.equal(found, status)
    t.match(Object.fromEntries(headers), {
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': /^max-age=\d{8}$/,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
    for (const name of ['server', 'x-powered-by', 'access-control-allow-origin']) t.equal(headers.get(name), null, name)
  }
})

t.test('a listed origin may call the API and read its response headers [10.1-cors]', async (t) => {
  const url = await api(t, { CORS_ORIGINS: `${shop}/, https://admin.example.com:8443, HTTP://LOCALHOST:3000` })
  for (const origin of [shop, 'https://admin.example.com:8443', 'http://localhost:3000']) {
    const requested =
      'authorization,content-type,idempotency-key,if-match,x-guest-token,x-read-after,x-reason,x-session-id'
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const { status, headers } = await fetch(`${url}/things`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': requested },
      })
      t.equal(status, 204)
      t.equal(headers.get('access-control-allow-origin'), origin)
      t.ok(headers.get('access-control-allow-methods')?.split(', ').includes(method), method)
      const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(', ')
      t.same(allowed?.toSorted(), requested.split(','))
      t.match(headers.get('vary'), 'Origin')
    }
  }
  const { headers } = await fetch(`${url}/things`, { headers: { origin: shop, 'x-session-id': 'grace' } })
  t.equal(headers.get('access-control-allow-origin'), shop)
  t.equal(headers.get('access-control-allow-credentials'), null, 'no cookies')
  t.equal(headers.get('cross-origin-resource-policy'), 'cross-origin')
  t.match(headers.get('vary'), 'Origin')
  const exposed = headers.get('access-control-expose-headers')?.toLowerCase() ?? ''
  for (const name of ['etag', 'ratelimit-remaining', 'retry-after', 'x-event-position', 'x-request-id'])
    t.ok(exposed.split(', ').includes(name), name)
  const limited = await fetch(`${url}/things`, { headers: { origin: shop, 'x-session-id': 'grace' } })
  t.same([limited.status, limited.headers.get('access-control-allow-origin')], [429, shop], 'an error is readable, too')
})

t.test('origins that only resemble a listed one are not allowed', async (t) => {
  const url = await api(t, { CORS_ORIGINS: shop })
  const others = ['null', 'http://shop.example.com', `${shop}.evil.example`, `${shop}:8443`, 'https://example.com', '*']
  for (const origin of [...others, `${shop}/`, shop.toUpperCase()]) {
    const preflight = { origin, 'access-control-request-method': 'PUT' }
    for (const init of [{ method: 'OPTIONS', headers: preflight }, { headers: { origin } }]) {
      const { headers } = await fetch(`${url}/things`, init)
      t.equal(headers.get('access-control-allow-origin'), null, origin)
      t.match(headers.get('vary'), 'Origin', 'caches must distinguish origins')
    }
  }
})

t.test('no origin is allowed by default [10.1-cors-none]', async (t) => {
  const url = await api(t)
  const headers = { origin: shop, 'access-control-request-method': 'PUT' }
  const preflight = await fetch(`${url}/things`, { method: 'OPTIONS', headers })
  t.same([preflight.status, preflight.headers.get('access-control-allow-origin')], [404, null])
})
