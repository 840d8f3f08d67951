import { once } from 'node:events'
import { connect } from 'node:net'
import { DomainError } from '@paylog/domain/errors'
import { waitFor } from '@paylog/testing/waitFor'
import type { FastifyInstance, InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { createLog } from '../telemetry/log.ts'
import { sendRaw } from '../testing/rawClient.ts'
import { rawBody } from './body.ts'
import { createHttp } from './http.ts'

const Body = Type.Object({
  total_cents: Type.Integer({ minimum: 1 }),
  concept: Type.Optional(Type.Union([Type.String({ maxLength: 5 }), Type.Null()])),
  guest: Type.Optional(Type.Object({ email: Type.String() })),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})
const Query = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 50, default: 20 }),
  q: Type.Optional(Type.String()),
  done: Type.Optional(Type.Boolean()),
  tag: Type.Optional(Type.Array(Type.String())),
})
const View = Type.Object({ id: Type.String(), name: Type.Union([Type.String(), Type.Null()]) })

function testServer(t: Test, level = 'info'): { http: FastifyInstance; logged: string[] } {
  const logged: string[] = []
  const http = createHttp({ log: createLog({ app: 'test', level }, { write: (line) => void logged.push(line) }) })
  http.post('/payments', { schema: { body: Body } }, async ({ body }) => body)
  http.get('/payments', { schema: { querystring: Query } }, async ({ query }) => query)
  http.get<{ Params: { id: string } }>('/payments/:id', async ({ params }) => params)
  http.get('/domain', async () => {
    throw new DomainError('payment_declined', 'No', { payment_id: 'p' }, { cause: new Error('hidden') })
  })
  http.get('/broken', async () => {
    throw new Error('the secret inside')
  })
  http.get('/internal', async () => {
    throw new DomainError('internal_error', 'the secret inside')
  })
  http.get('/limited', async () => {
    throw Object.assign(new Error('x'), { statusCode: 429 })
  })
  http.get('/view', { schema: { response: { 200: View } } }, async () => ({ id: 'a', name: null, secret: 'leak' }))
  http.get('/badView', { schema: { response: { 200: View } } }, async () => ({ secret: 'leak' }))
  http.register(async (scope) => {
    rawBody(scope)
    scope.post('/raw', async ({ body }) => (Buffer.isBuffer(body) ? body.toString('hex') : String(body)))
  })
  t.teardown(() => http.close())
  return { http, logged }
}

async function errorOf(http: FastifyInstance, request: InjectOptions) {
  const response = await http.inject(request)
  const { success, error } = response.json()
  return { status: response.statusCode, success, ...error, header: response.headers['x-request-id'] }
}

const json = (payload: string | Buffer): InjectOptions => ({
  method: 'POST',
  url: '/payments',
  headers: { 'content-type': 'application/json' },
  payload,
})

t.test(
  'every kind of error is returned in the envelope with its request id [4-json 7-envelope 10.1-encoding]',
  async (t) => {
    const { http } = testServer(t)
    const cases: [InjectOptions, number, string][] = [
      [{ url: '/nowhere' }, 404, 'not_found'],
      [{ method: 'PUT', url: '/payments' }, 404, 'not_found'],
      [
        { method: 'POST', url: '/nowhere', headers: { 'content-type': 'application/json' }, payload: '{}' },
        404,
        'not_found',
      ],
      [{ url: '/payments/%zz' }, 400, 'invalid_request'],
      [{ url: `/payments/${'a'.repeat(300)}` }, 404, 'not_found'],
      [json('{'), 400, 'invalid_request'],
      [json(''), 400, 'invalid_request'],
      [json('{"total_cents":1,"total_cents":1}'), 400, 'invalid_request'],
      [json(Buffer.from('{"a":"\xff"}', 'latin1')), 400, 'invalid_request'],
      [json(`{"concept":"${'a'.repeat(256 * 1024)}"}`), 413, 'body_too_large'],
      [{ method: 'POST', url: '/payments' }, 400, 'invalid_request'],
      [
        { ...json('a=b'), headers: { 'content-type': 'application/x-www-form-urlencoded' } },
        415,
        'unsupported_media_type',
      ],
      [{ ...json('{}'), headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type'],
      [{ ...json('{}'), headers: { 'content-type': 'nonsense' } }, 415, 'unsupported_media_type'],
      ...['gzip', 'br', 'GZIP, identity', ''].map((encoding): [InjectOptions, number, string] => [
        { ...json('{}'), headers: { 'content-type': 'application/json', 'content-encoding': encoding } },
        ...([415, 'unsupported_media_type'] as const),
      ]),
      [
        { ...json('{"a":1}'), headers: { 'content-type': 'application/json', 'content-encoding': 'Identity' } },
        ...([400, 'invalid_request'] as const),
      ],
      [{ url: '/domain' }, 402, 'payment_declined'],
      [{ url: '/limited' }, 429, 'rate_limited'],
      [{ url: '/broken' }, 500, 'internal_error'],
      [{ url: '/internal' }, 500, 'internal_error'],
      [{ url: '/badView' }, 500, 'internal_error'],
    ]
    for (const [request, status, code] of cases) {
      const response = await errorOf(http, request)
      const name = `${request.method ?? 'GET'} ${String(request.url).slice(0, 30)} ${status}`
      t.match(response, { status, success: false, code, message: String, request_id: /^[0-9a-f-]{36}$/ }, name)
      t.equal(response.header, response.request_id, `${name}: id in the header`)
      t.notMatch(JSON.stringify(response), /secret|hidden|leak/)
    }
    t.strictSame((await errorOf(http, { url: '/domain' })).details, { payment_id: 'p' })
  },
)

t.test('request ids from clients are ignored', async (t) => {
  const { http } = testServer(t)
  const response = await http.inject({ url: '/nowhere', headers: { 'x-request-id': 'mine', 'request-id': 'mine' } })
  t.notMatch(response.payload, 'mine')
})

t.test('body values are not coerced, and records keep every field [10.1-no-coercion]', async (t) => {
  const { http } = testServer(t)
  for (const total of ['"1"', 'true', '1.5', '0', 'null', '[1]']) {
    t.match(await errorOf(http, json(`{"total_cents":${total}}`)), { status: 400, code: 'invalid_request' }, total)
  }
  const kept = { total_cents: 1, concept: null, guest: { email: 'e' }, metadata: { any: { deep: 1 } } }
  t.strictSame((await http.inject(json(JSON.stringify(kept)))).json(), kept)
})

t.test('a validation error names the invalid fields without their values', async (t) => {
  const { http } = testServer(t)
  const { details, message } = await errorOf(http, json('{"concept":"secret text","guest":{}}'))
  t.strictSame(details.fields, [
    { field: 'total_cents', message: 'is required' },
    { field: 'concept', message: 'must not have more than 5 characters or must be null' },
    { field: 'guest.email', message: 'is required' },
  ])
  t.equal(message, 'The body is invalid: total_cents is required')
})

t.test('query values are converted strictly, and defaults are filled in', async (t) => {
  const { http } = testServer(t)
  const query = async (text: string) => (await http.inject(`/payments?${text}`)).json()
  t.strictSame(await query(''), { limit: 20 })
  t.strictSame(await query('limit=5&q=1&done=true&tag=a&other=x'), { limit: 5, q: '1', done: true, tag: ['a'] })
  t.strictSame(await query('tag=a&tag=b'), { limit: 20, tag: ['a', 'b'] })
  for (const text of [
    'limit=',
    'limit=0',
    'limit=51',
    'limit=1.5',
    'limit=1e1',
    'limit=%201',
    'done=1',
    'done=',
    'q=a&q=b',
    'q=%00',
  ]) {
    t.match(await errorOf(http, { url: `/payments?${text}` }), { status: 400, code: 'invalid_request' }, text)
  }
})

t.test('a repeated query parameter is 400 and must be given only once', async (t) => {
  const { http } = testServer(t)
  for (const [query, field] of [
    ['limit=1&limit=2', 'limit'],
    ['done=true&done=true', 'done'],
    ['q=a&q=b', 'q'],
  ] as const) {
    const { status, message, details } = await errorOf(http, { url: `/payments?${query}` })
    t.same([status, message], [400, `The query is invalid: ${field} must be given only once`])
    t.strictSame(details.fields, [{ field, message: 'must be given only once' }])
  }
})

t.test('a response contains only the fields of its schema', async (t) => {
  const { http } = testServer(t)
  t.strictSame((await http.inject('/view')).json(), { id: 'a', name: null })
})

t.test('a raw scope gets the bytes of a body of any content type, up to 1 MiB', async (t) => {
  const { http } = testServer(t)
  const post = (payload: Buffer, type: string) =>
    http.inject({ method: 'POST', url: '/raw', payload, headers: { 'content-type': type } })
  const bytes = Buffer.from([0, 255, 123, 34, 34])
  for (const type of ['application/json', 'text/plain', 'application/octet-stream', 'x/y']) {
    t.equal((await post(bytes, type)).payload, bytes.toString('hex'), type)
  }
  t.equal((await post(Buffer.alloc(1024 * 1024), 'application/json')).statusCode, 200)
  t.equal((await post(Buffer.alloc(1024 * 1024 + 1), 'application/json')).statusCode, 413)
  t.equal((await http.inject(json('[1]'))).statusCode, 400, 'other scopes still parse JSON')
})

t.test('the request log has the route of a response, never its URL', async (t) => {
  const { http, logged } = testServer(t)
  await http.inject('/payments/secret-id?guest_token=secret-token')
  await http.inject('/secret-path?x=secret-token')
  await http.inject('/payments?limit=secret-limit')
  const lines = logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
  t.match(lines, [
    { method: 'GET', route: '/payments/:id', status: 200, ms: Number, requestId: String },
    { method: 'GET', route: null, status: 404 },
    { method: 'GET', route: '/payments', status: 400 },
  ])
  const fields = ['level', 'time', 'app', 'requestId', 'method', 'route', 'status', 'ms', 'msg']
  for (const line of lines) t.same(Object.keys(line), fields, 'exactly the fields that need no redaction')
  t.notMatch(logged.join(''), /secret/)
})

t.test('the reason of an internal error is logged but not returned', async (t) => {
  const { http, logged } = testServer(t)
  await http.inject('/broken')
  t.match(logged.join(''), /the secret inside.*http\.test\.ts/)
})

const listen = (http: FastifyInstance) => http.listen({ host: '127.0.0.1', port: 0 })

t.test('invalid HTTP gets an error envelope, and the connection closes [7-not-http]', async (t) => {
  const { http } = testServer(t)
  const url = await listen(http)
  const cases = {
    'garbage\r\n\r\n': 400,
    'GET / HTTP/9.9\r\n\r\n': 400,
    'GET / HTTP/1.1\r\nConnection: close\r\n\r\n': 400,
    [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`]: 431,
    'GET /payments/\u0000 HTTP/1.1\r\nHost: x\r\n\r\n': 400,
    'POST /payments HTTP/1.1\r\nHost: x\r\nContent-Length: a\r\n\r\n': 400,
    'POST /payments HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n': 400,
  }
  for (const [bytes, status] of Object.entries(cases)) {
    const [head = '', body = ''] = (await sendRaw(t, url, bytes)).split('\r\n\r\n')
    t.match(head, `HTTP/1.1 ${status}`, JSON.stringify(bytes.slice(0, 40)))
    t.match(JSON.parse(body), { success: false, error: { code: 'invalid_request', request_id: String } })
  }
})

t.test('request headers beyond 16 KiB in total get 431 [8-headers]', async (t) => {
  const url = await listen(testServer(t).http)
  const statusWith = async (length: number) => {
    const head = `GET /view HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: ${'a'.repeat(length)}\r\n\r\n`
    return (await sendRaw(t, url, head)).slice(9, 12)
  }
  t.equal(await statusWith(16 * 1024 - 200), '200')
  t.equal(await statusWith(16 * 1024), '431')
})

t.test('an aborted request is not logged as a failure', async (t) => {
  const { http, logged } = testServer(t, 'debug')
  const socket = connect(Number(new URL(await listen(http)).port), '127.0.0.1')
  const started = once(http.server, 'request')
  socket.write('POST /payments HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{')
  await started
  socket.resetAndDestroy()
  await waitFor(() => /request rejected|request failed/.test(logged.join('')), { what: 'the log line' })
  t.notMatch(logged.join(''), /request failed|"level":"error"/)
})

t.test('503 for the event store has Retry-After, and is no line of its own above debug', async (t) => {
  const { http, logged } = testServer(t, 'info')
  const unknown = new DomainError('event_store_unavailable', 'It may or may not be recorded')
  http.post('/election', () => Promise.reject(unknown))
  const response = await http.inject({ method: 'POST', url: '/election' })
  t.match(response, { statusCode: 503, headers: { 'retry-after': '2' } })
  t.notMatch(logged.join(''), /may or may not be recorded/)
})
