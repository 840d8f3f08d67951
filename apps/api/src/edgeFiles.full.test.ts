import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { apiHarness } from '@paylog/runtime/testing/apiHarness'
import t from 'tap'
import { startEdge, withBreakingCaddy, withCaddy } from './testing/edge.ts'

const line = `${'x'.repeat(200)}\r\n`

t.test('the edge sends files to the operator API, and compresses them', withCaddy, async (t) => {
  const query = await apiHarness(t, {}, async (http) => {
    http.get('/admin/*', async () => ({ from: 'query-api' }))
  })
  const lines = 100_000
  let isBroken = false
  async function* file() {
    for (let sent = 0; sent < lines; sent += 100) {
      if (isBroken && sent >= lines / 2) throw new Error('broken')
      yield line.repeat(100)
    }
  }
  const operator = await apiHarness(t, {}, async (http) => {
    http.get('/admin/*', async (_request, reply) => {
      reply.header('x-row-count', lines).type('text/csv; charset=utf-8')
      return reply.send(Readable.from(file(), { objectMode: false }))
    })
  })
  const [queryPort, operatorPort] = [query, operator].map(({ url }) => new URL(url).port)
  const ports = {
    QUERY_API_PORT: String(queryPort),
    OPERATOR_API_PORT: String(operatorPort),
    OPERATOR_API_HOST: '127.0.0.1',
  }
  const edge = await startEdge(t, ports, ['127.0.0.1'])
  const open = async (path: string, headers: Record<string, string>): Promise<IncomingMessage> => {
    const [response] = await once(request(`${edge.url}${path}`, { headers }).end(), 'response')
    return response
  }
  const headersOf = async (path: string, accept: string) => {
    const response = await open(path, { accept })
    response.destroy()
    return response.headers
  }
  for (const path of ['/admin/payments', '/admin/refunds?status=failed', '/admin/reports/2026-01', '/admin/products'])
    for (const accept of ['text/csv', 'TEXT/CSV', 'application/json;q=0.1, text/csv', 'text/*'])
      t.match(await headersOf(path, accept), { 'content-type': /csv/, 'x-row-count': '100000' }, `${path} ${accept}`)
  for (const accept of ['*/*', 'application/json', 'text/html,application/xml;q=0.9,*/*;q=0.8'])
    t.match(await headersOf('/admin/payments', accept), { 'content-type': /json/ }, accept)

  const compressed = await open('/admin/payments', { accept: 'text/csv', 'accept-encoding': 'gzip' })
  t.equal(compressed.headers['content-encoding'], 'gzip')
  t.equal(gunzipSync(await buffer(compressed)).length, lines * line.length)

  await t.test('a file that breaks off there breaks off at the edge', withBreakingCaddy, async (t) => {
    isBroken = true
    for (const encoding of ['identity', 'gzip', 'zstd']) {
      const response = await open('/admin/payments', { accept: 'text/csv', 'accept-encoding': encoding })
      t.equal(response.statusCode, 200)
      await t.rejects(buffer(response), { code: 'ECONNRESET' }, encoding)
    }
  })
})
