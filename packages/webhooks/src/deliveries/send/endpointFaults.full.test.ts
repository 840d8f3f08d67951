import { gzipSync } from 'node:zlib'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { freePort } from '@paylog/testing/processes'
import { startTcpProxy } from '@paylog/testing/tcpProxy'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { createPoster, rawEndpoint, tcpEndpoint } from '../../testing/webhookPoster.ts'

const noResponse = () => undefined

t.test('a network failure has a class and the original error code', async (t) => {
  const post = createPoster(t)
  const refused = { httpStatus: null, error: 'connection_refused', code: 'ECONNREFUSED', responseBody: null }
  t.match(await post(`http://127.0.0.1:${await freePort()}/`), refused)
  t.match(await post('http://nowhere.invalid/'), { httpStatus: null, error: 'dns', code: 'ENOTFOUND' })
  const resetting = await tcpEndpoint(t, (socket) => socket.once('data', () => socket.resetAndDestroy()))
  t.match(await post(`http://${resetting}/`), { httpStatus: null, error: 'connection_reset', responseBody: null })
  const closing = await tcpEndpoint(t, (socket) => socket.once('data', () => socket.end()))
  t.match(await post(`http://${closing}/`), { httpStatus: null, error: 'connection_reset' })
  const closingAtOnce = await tcpEndpoint(t, (socket) => socket.destroy())
  t.match(await post(`https://${closingAtOnce}/`), { httpStatus: null, error: 'connection_reset' })
})

t.test('a name whose addresses all refuse the connection is connection_refused', async (t) => {
  const addresses = [
    { address: '::1', family: 6 },
    { address: '127.0.0.1', family: 4 },
  ]
  const post = createPoster(t, ['127.0.0.0/8', '::1/128'], async () => addresses)
  t.match(await post(`http://hooks.example.com:${await freePort()}/`), { error: 'connection_refused' })
})

t.test('a failing DNS lookup has the class dns', async (t) => {
  for (const code of ['EAI_AGAIN', 'EAI_FAIL', 'ENOTFOUND', 'ENODATA']) {
    const post = createPoster(t, [], () => Promise.reject(Object.assign(new Error('lookup'), { code })))
    t.match(await post('http://hooks.example.com/'), { httpStatus: null, error: 'dns', code })
  }
})

t.test('one timeout covers DNS, connection, TLS and response', async (t) => {
  const silent = await tcpEndpoint(t, noResponse)
  const forever = Promise.withResolvers<never>()
  const post = createPoster(t)
  const withoutDns = createPoster(t, [], () => forever.promise)
  const cases = {
    name: () => withoutDns('http://hooks.example.com/', { timeoutMs: 300 }),
    tls: () => post(`https://${silent}/`, { timeoutMs: 300 }),
    headers: () => post(`http://${silent}/`, { timeoutMs: 300 }),
  }
  for (const [phase, attempt] of Object.entries(cases)) {
    const before = performance.now()
    t.match(await attempt(), { httpStatus: null, error: 'timeout', responseBody: null }, phase)
    const ms = performance.now() - before
    t.ok(ms >= 290 && ms < 5_000, `${phase}: ${ms} ms`)
  }
})

t.test('an abort ends an attempt that is still connecting', async (t) => {
  const silent = await tcpEndpoint(t, noResponse)
  const signal = AbortSignal.timeout(100)
  const before = performance.now()
  await t.rejects(createPoster(t)(`https://${silent}/`, { signal, timeoutMs: 20_000 }), { name: 'TimeoutError' })
  t.ok(performance.now() - before < 10_000)
})

t.test('an attempt that timed out during its DNS lookup is not sent later', async (t) => {
  const endpoint = await startFakeEndpoint(t)
  const { port } = new URL(endpoint.url)
  const resolution = Promise.withResolvers<{ address: string; family: number }[]>()
  let lookups = 0
  const post = createPoster(t, ['127.0.0.0/8'], () => {
    lookups++
    return resolution.promise
  })
  const url = `http://hooks.example.com:${port}/`
  const results = await Promise.all([1, 2, 3].map(() => post(url, { timeoutMs: 200 })))
  for (const result of results) t.match(result, { error: 'timeout' })
  t.equal(lookups, 1, 'concurrent attempts share a lookup')
  resolution.resolve([{ address: '127.0.0.1', family: 4 }])
  t.match(await post(url), { httpStatus: 200 }, 'the next attempt is sent')
  t.equal(endpoint.received.length, 1)
})

t.test('half-open connections are closed at the end of their attempts', async (t) => {
  let opened = 0
  let open = 0
  const silent = await tcpEndpoint(t, (socket) => {
    opened++
    open++
    socket.resume().on('close', () => open--)
  })
  const post = createPoster(t)
  await Promise.all(Array.from({ length: 10 }, () => post(`https://${silent}/`, { timeoutMs: 500 })))
  await waitFor(() => open === 0, { what: 'the connections to end', timeoutMs: 5_000 })
  t.equal(opened, 10)
})

t.test('a response that is not valid HTTP is an invalid_response', async (t) => {
  const post = createPoster(t)
  const responses = {
    garbage: 'not http at all\r\n\r\n',
    binary: Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 0xff, 0xfe, 0x00]),
    'an old protocol': 'ICY 200 OK\r\n\r\n',
    'a bad header': 'HTTP/1.1 200 OK\r\nno colon\r\n\r\n',
    'two lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok',
    'huge headers': `HTTP/1.1 200 OK\r\n${'x-filler: y\r\n'.repeat(20_000)}\r\n`,
    'one huge header': `HTTP/1.1 200 OK\r\nx-filler: ${'y'.repeat(100_000)}\r\n\r\n`,
    // Allowed by RFC 9110 §15.2, but not supported by undici.
    'an unsolicited 100 Continue': 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
    'another protocol': 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  }
  for (const [what, response] of Object.entries(responses)) {
    const expected = { httpStatus: null, error: 'invalid_response', responseBody: null }
    t.match(await post(await rawEndpoint(t, response)), expected, what)
  }
})

t.test('unusual but valid HTTP responses are accepted', async (t) => {
  const post = createPoster(t)
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n'
  const responses = {
    'HTTP/1.0': 'HTTP/1.0 200 OK\r\n\r\nok',
    'no length': 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nok',
    chunks: `${chunked}\r\n2\r\nok\r\n0\r\n\r\n`,
    trailers: `${chunked}trailer: x-sum\r\n\r\n2\r\nok\r\n0\r\nx-sum: 1\r\n\r\n`,
    'early hints': 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
    'no reason': 'HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\nok',
  }
  for (const [what, response] of Object.entries(responses)) {
    t.match(await post(await rawEndpoint(t, response)), { httpStatus: 200, error: null, responseBody: 'ok' }, what)
  }
})

t.test('the status counts when the response body breaks off', async (t) => {
  const post = createPoster(t)
  const start = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n'
  t.match(await post(await rawEndpoint(t, `${start}half`)), { httpStatus: 200, error: null, responseBody: 'half' })
  const chunked = 'HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n'
  t.match(await post(await rawEndpoint(t, chunked)), { httpStatus: 500, responseBody: 'half' })
})

t.test('a body after a 204 does not disturb the next attempt', async (t) => {
  const post = createPoster(t)
  const server = await rawEndpoint(t, 'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello', false)
  for (let count = 0; count < 3; count++) {
    const result = await post(server, { successStatus: '2xx' })
    t.match(result, { httpStatus: 204, error: null, responseBody: '' })
  }
})

t.test('compressed response bodies are not decompressed', async (t) => {
  const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024))
  const endpoint = await startFakeEndpoint(t, (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length }).end(bomb)
  })
  const before = process.memoryUsage.rss()
  const { httpStatus, responseBody } = await createPoster(t)(endpoint.url)
  t.equal(httpStatus, 200)
  t.ok(Buffer.byteLength(responseBody ?? '') <= 16_384)
  t.ok(process.memoryUsage.rss() - before < 40 * 1024 ** 2)
})

t.test('an idle connection closed by the endpoint is not reused', async (t) => {
  let closed = 0
  const host = await tcpEndpoint(t, (socket) => {
    socket.on('close', () => closed++)
    socket.on('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok', () => socket.end())
    })
  })
  const post = createPoster(t)
  for (const count of [1, 2, 3]) {
    t.match(await post(`http://${host}/`), { httpStatus: 200, error: null })
    await waitFor(() => closed === count, { what: 'both sides to have closed' })
  }
})

t.test('a connection that hangs fails one attempt and is not reused', async (t) => {
  const post = createPoster(t)
  const endpoint = await startFakeEndpoint(t)
  const proxy = await startTcpProxy(t, Number(new URL(endpoint.url).port))
  const attempt = () => post(`http://127.0.0.1:${proxy.port}/`, { timeoutMs: 1_000 })
  for (let count = 0; count < 3; count++) t.match(await attempt(), { error: null })
  proxy.freezeConnections()
  const errors: unknown[] = []
  for (let count = 0; count < 6; count++) errors.push((await attempt()).error)
  t.ok(errors.includes('timeout'))
  // There are two if a request started before the first connection was free again.
  t.ok(errors.filter((error) => error === 'timeout').length <= 2)
  t.same(errors.slice(-2), [null, null])
})
