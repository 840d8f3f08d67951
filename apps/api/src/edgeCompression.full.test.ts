import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { apiHarness } from '@paylog/runtime/testing/apiHarness'
import t from 'tap'
import { startEdge, withCaddy } from './testing/edge.ts'

const long = { success: true, data: Array.from({ length: 50 }, (_, index) => ({ id: index, name: 'Winter shoes' })) }

t.test('the edge compresses lists, and no response that may hold a secret', withCaddy, async (t) => {
  const { url } = await apiHarness(t, {}, async (http) => {
    for (const path of [
      '/payments',
      '/admin/products',
      '/webhooks/logs',
      '/payments/:id',
      '/admin/payments/:id/history',
    ])
      http.get(path, async (_request, reply) => reply.header('etag', '"7"').send(long))
    http.get('/addresses', async () => ({ success: true, data: [] }))
    http.post('/payment-methods', async () => long)
  })
  const { port } = new URL(url)
  const env = { QUERY_API_PORT: port, COMMAND_API_PORT: port }
  const edge = await startEdge(t, env, ['127.0.0.1'])
  const send = async (path: string, encoding: string | undefined, method: 'GET' | 'HEAD' | 'POST' = 'GET') => {
    const headers = encoding === undefined ? {} : { 'accept-encoding': encoding }
    const sent = request(`${edge.url}${path}`, { method, headers }).end()
    const [response]: IncomingMessage[] = await once(sent, 'response')
    if (response === undefined) throw new Error('There is no response')
    return { statusCode: response.statusCode, headers: response.headers, body: await buffer(response) }
  }
  const plain = JSON.stringify(long)

  for (const path of ['/payments', '/payments?page=2', '/admin/products']) {
    const { headers, body, statusCode } = await send(path, 'gzip')
    t.equal(statusCode, 200, path)
    t.match(headers, { 'content-encoding': 'gzip', vary: /Accept-Encoding/, 'cache-control': 'no-store' }, path)
    t.ok(body.length < plain.length / 4, path)
    t.equal(gunzipSync(body).toString(), plain, path)
  }
  t.equal(
    (await send('/payments', 'gzip, br, zstd')).headers['content-encoding'],
    'zstd',
    'the cheapest that both know',
  )

  for (const [path, encoding, method] of [
    ['/payments/1', 'gzip', 'GET'],
    ['/webhooks/logs', 'gzip', 'GET'],
    ['/admin/payments/1/history', 'gzip', 'GET'],
    ['/payment-methods', 'gzip', 'POST'],
    ['/addresses', 'gzip', 'GET'],
    ['/payments', undefined, 'GET'],
    ['/payments', 'br', 'GET'],
    ['/payments', 'gzip;q=0', 'GET'],
  ] as const) {
    const { headers, statusCode } = await send(path, encoding, method)
    t.equal(statusCode, 200, `${method} ${path}`)
    t.equal(headers['content-encoding'], undefined, `${method} ${path} with ${encoding}`)
  }
  t.equal((await send('/payments/1', 'gzip')).headers.etag, '"7"', 'If-Match needs the ETag as it is')
  const head = await send('/payments', 'gzip', 'HEAD')
  t.equal(head.statusCode, 200)
  t.equal(head.body.length, 0)
})
