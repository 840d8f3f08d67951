// The HTTP client: responses, unsent requests, and requests with an unknown outcome.
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { listen } from '@paylog/testing/fakeServer'
import { freePort } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { createHttpClient, type HttpClient, type HttpRequest } from './http.ts'
import { unlimitedPace } from './testing/providerHarness.ts'
import { withTimeLimit } from './timeLimit.ts'

const post = { method: 'POST', path: '/pay', headers: { 'x-key': 'k1' }, body: '{}' } as const
const notSent = { name: 'ProviderError', kind: 'unavailable' }
const lost = { name: 'ProviderError', kind: 'unknown' }

const send = (http: HttpClient, request: HttpRequest = post, ms = 30_000) => withTimeLimit(ms, () => http.send(request))

function client(t: Test, origin: string, maxBytes?: number) {
  const created = createHttpClient({ origin, pace: unlimitedPace, timeoutMs: 60_000, maxBytes })
  t.teardown(() => created.close())
  return created
}

async function serve(t: Test, listener: RequestListener, maxBytes?: number) {
  return client(t, await listen(t, createServer(listener)), maxBytes)
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

t.test('the HTTP client returns status, headers and body of a response, without a byte order mark', async (t) => {
  const http = await serve(t, (request, response) => {
    t.match(request, { method: 'POST', url: '/pay', headers: { 'x-key': 'k1', 'content-length': '2' } })
    response.writeHead(422, { date: 'Tue, 01 Sep 2026 10:00:00 GMT' }).end('\ufeff{"name":"x"}')
  })
  t.match(await send(http), {
    status: 422,
    headers: { date: 'Tue, 01 Sep 2026 10:00:00 GMT' },
    text: '{"name":"x"}',
  })
})

t.test('the HTTP client returns a redirect and does not follow it', async (t) => {
  const requested: unknown[] = []
  const http = await serve(t, (request, response) => {
    requested.push(request.url)
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  t.equal((await send(http)).status, 307)
  t.same(requested, ['/pay'])
})

t.test('the HTTP client reports unavailable when it cannot connect', async (t) => {
  const unreachable = client(t, `http://127.0.0.1:${await freePort()}`)
  await t.rejects(send(unreachable), { ...notSent, code: 'econnrefused' }, 'connection refused')
  await t.rejects(send(client(t, 'http://provider.invalid')), notSent, 'unknown host name')
  const plain = await listen(
    t,
    createServer((_request, response) => void response.end()),
  )
  await t.rejects(send(client(t, plain.replace('http:', 'https:'))), notSent, 'no TLS')
  const hangingUp = await tcp(t, (socket) => void socket.resetAndDestroy())
  await t.rejects(send(client(t, `https://127.0.0.1:${hangingUp}`)), notSent, 'reset in the handshake')
})

t.test('the HTTP client reports unavailable when the time ends before it is connected', async (t) => {
  const port = await tcp(t, () => undefined)
  await t.rejects(send(client(t, `https://127.0.0.1:${port}`), post, 100), { ...notSent, code: 'timeout' })
})

t.test('the HTTP client reports unavailable when no connection becomes free in time', async (t) => {
  const urls: unknown[] = []
  const waiting: ServerResponse[] = []
  const http = await serve(t, (request, response) => {
    urls.push(request.url)
    if (request.url === '/taken') waiting.push(response)
    else response.end()
  })
  const taking = Array.from({ length: 64 }, () => send(http, { ...post, path: '/taken' }))
  await waitFor(() => waiting.length === 64, { what: 'all connections to be taken' })
  await t.rejects(send(http, post, 100), { ...notSent, code: 'timeout' })
  const next = Array.from({ length: 64 }, () => send(http, { ...post, path: '/next' }))
  for (const response of waiting) response.end()
  await Promise.all([...taking, ...next])
  t.notOk(urls.includes('/pay'), 'not sent later either')
})

t.test('the HTTP client reports an unknown outcome when the response is incomplete or no HTTP', async (t) => {
  const cutting = await serve(t, (_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"half":')
    setImmediate(() => response.destroy())
  })
  await t.rejects(send(cutting), lost, 'cut off')
  const stalling = await serve(t, (_request, response) => void response.write('{"half":'))
  await t.rejects(send(stalling, post, 1_000), { ...lost, code: 'timeout' }, 'stalled')
  const flood = await serve(t, (_request, response) => void response.end('x'.repeat(2000)), 1000)
  await t.rejects(send(flood), lost, 'too long')
  const noHttp = await tcp(t, (socket) => void socket.on('data', () => socket.write('nonsense\r\n\r\n')))
  await t.rejects(send(client(t, `http://127.0.0.1:${noHttp}`)), lost, 'not HTTP')
})

t.test('the HTTP client reuses its connection', async (t) => {
  const ports = new Set<number | undefined>()
  const http = await serve(t, (request, response) => {
    ports.add(request.socket.remotePort)
    response.end()
  })
  for (let sent = 0; sent < 10; sent++) await send(http)
  // A connection becomes free one event loop turn after its response, so a second one may be opened.
  t.ok(ports.size <= 2, `${ports.size} connections`)
})
