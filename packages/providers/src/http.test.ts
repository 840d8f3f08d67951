// The HTTP client: responses, unsent requests, and requests with an unknown outcome.
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { listen } from '@paylog/testing/fakeServer'
import { freePort } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { createHttpClient, type HttpResponse, readResponse } from './http.ts'
import { unlimitedPace } from './testing/providerHarness.ts'

const post = { method: 'POST', path: '/pay', headers: { 'x-key': 'k1' }, body: '{}', timeoutMs: 5000 } as const
const notSent = { name: 'ProviderError', kind: 'unavailable' }
const lost = { name: 'ProviderError', kind: 'unknown' }

function client(t: Test, origin: string, maxBytes?: number) {
  const created = createHttpClient({ origin, pace: unlimitedPace, ...(maxBytes === undefined ? {} : { maxBytes }) })
  t.teardown(() => created.close())
  return created
}

async function serve(t: Test, listener: RequestListener) {
  return client(t, await listen(t, createServer(listener)))
}

/** A plain TCP server. */
async function tcp(t: Test, onConnection: (socket: Socket) => void): Promise<number> {
  const port = await freePort()
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    onConnection(socket)
  })
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return port
}

t.test('the HTTP client returns status, headers and body of a response', async (t) => {
  const http = await serve(t, (request, response) => {
    t.match(request, { method: 'POST', url: '/pay', headers: { 'x-key': 'k1', 'content-length': '2' } })
    response.writeHead(422, { date: 'Tue, 01 Sep 2026 10:00:00 GMT' }).end('{"name":"x"}')
  })
  t.match(await http.send(post), {
    status: 422,
    headers: { date: 'Tue, 01 Sep 2026 10:00:00 GMT' },
    text: '{"name":"x"}',
  })
})

t.test('the HTTP client drops a byte order mark', async (t) => {
  const http = await serve(t, (_request, response) => void response.end('\ufeff{"ok":true}'))
  t.equal((await http.send(post)).text, '{"ok":true}')
})

t.test('the HTTP client returns a redirect and does not follow it', async (t) => {
  const requested: unknown[] = []
  const http = await serve(t, (request, response) => {
    requested.push(request.url)
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  t.equal((await http.send(post)).status, 307)
  t.same(requested, ['/pay'])
})

t.test('the HTTP client reports unavailable when it cannot connect', async (t) => {
  const unreachable = client(t, `http://127.0.0.1:${await freePort()}`)
  await t.rejects(unreachable.send(post), { ...notSent, code: 'econnrefused' }, 'connection refused')
  const unresolvable = client(t, 'http://provider.invalid')
  await t.rejects(unresolvable.send(post), notSent, 'unknown host name')
  const plain = await listen(
    t,
    createServer((_request, response) => void response.end()),
  )
  await t.rejects(client(t, plain.replace('http:', 'https:')).send(post), notSent, 'no TLS')
  const hangingUp = await tcp(t, (socket) => void socket.resetAndDestroy())
  await t.rejects(client(t, `https://127.0.0.1:${hangingUp}`).send(post), notSent, 'reset in the handshake')
})

t.test('the HTTP client reports unavailable when the time ends before it is connected', async (t) => {
  const port = await tcp(t, () => undefined)
  const http = client(t, `https://127.0.0.1:${port}`)
  await t.rejects(http.send({ ...post, timeoutMs: 100 }), { ...notSent, code: 'timeout' })
})

t.test('the HTTP client reports unavailable when no connection becomes free in time', async (t) => {
  const urls: unknown[] = []
  const waiting: ServerResponse[] = []
  const http = await serve(t, (request, response) => {
    urls.push(request.url)
    if (request.url === '/taken') waiting.push(response)
    else response.end()
  })
  const taking = Array.from({ length: 64 }, () => http.send({ ...post, path: '/taken' }))
  await waitFor(() => waiting.length === 64, { what: 'all connections to be taken' })
  await t.rejects(http.send({ ...post, timeoutMs: 100 }), { ...notSent, code: 'timeout' })
  const next = Array.from({ length: 64 }, () => http.send({ ...post, path: '/next' }))
  for (const response of waiting) response.end()
  await Promise.all([...taking, ...next])
  t.notOk(urls.includes('/pay'), 'not sent later either')
})

t.test('the HTTP client reports an unknown outcome when no response arrives', async (t) => {
  const silent = await serve(t, () => undefined)
  await t.rejects(silent.send({ ...post, timeoutMs: 1_000 }), { ...lost, code: 'timeout' }, 'timeout')
  const hangingUp = await serve(t, (request) => void request.socket.resetAndDestroy())
  await t.rejects(hangingUp.send(post), lost, 'connection reset')
  const noHttp = await tcp(t, (socket) => void socket.on('data', () => socket.write('nonsense\r\n\r\n')))
  await t.rejects(client(t, `http://127.0.0.1:${noHttp}`).send(post), lost, 'not HTTP')
})

t.test('the HTTP client reports an unknown outcome when the response is incomplete', async (t) => {
  const cutting = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"half":')
    setImmediate(() => response.destroy())
  })
  await t.rejects(cutting.send(post), lost, 'cut off')
  const stalling = await serve(t, (_request, response) => void response.write('{"half":'))
  await t.rejects(stalling.send({ ...post, timeoutMs: 1_000 }), { ...lost, code: 'timeout' }, 'stalled')
  const flood = createServer((_request, response) => void response.end('x'.repeat(2000)))
  await t.rejects(client(t, await listen(t, flood), 1000).send(post), lost, 'too long')
})

t.test('the HTTP client reuses its connection until it is closed', async (t) => {
  const ports = new Set<number | undefined>()
  const http = await serve(t, (request, response) => {
    ports.add(request.socket.remotePort)
    response.end()
  })
  for (let sent = 0; sent < 10; sent++) await http.send(post)
  // A connection becomes free one event loop turn after its response, so a second one may be opened.
  t.ok(ports.size <= 2, `${ports.size} connections`)
  await http.close()
  await t.rejects(http.send(post), notSent)
})

t.test('readResponse accepts only the expected shape', (t) => {
  const shape = Compile(Type.Object({ id: Type.String() }))
  const responseOf = (text: string): HttpResponse => ({ status: 200, headers: {}, text })
  t.same(readResponse(shape, responseOf('{"id":"a","more":1}')), { id: 'a', more: 1 })
  for (const text of ['{"id":1}', '{"id":', '<html>', ''])
    t.throws(() => readResponse(shape, responseOf(text)), { ...lost, code: 'unreadable_answer' })
  t.end()
})
