import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import t, { type Test } from 'tap'
import { createIdentityBackend, parseInstant } from './backend.ts'

const expiresAt = '2099-01-01T00:00:00Z'
const valid = { success: true, user: { id: 'u1', email: 'u@example.com' }, session: { expiresAt } }
const json = { 'content-type': 'application/json' }
const user = { user_id: 'u1', user_email: 'u@example.com', user_type: 'user' }
const identityUnavailable = { code: 'identity_unavailable' }
const respond = (response: ServerResponse) => response.writeHead(200, json).end(JSON.stringify(valid))

/** Starts a backend with this listener. @returns its counters, and a client of it */
async function startBackend(t: Test, timeoutMs: number, listener: RequestListener) {
  const seen = { connections: 0, requests: 0 }
  const server = createServer((request, response) => {
    seen.requests += 1
    listener(request, response)
  })
  server.on('connection', () => {
    seen.connections += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const backend = createIdentityBackend({ authUrl: `http://127.0.0.1:${port}`, service: 'payments', timeoutMs })
  t.teardown(async () => {
    await backend.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { seen, backend }
}

async function durationOf(work: Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work
  return performance.now() - started
}

t.test('300 validations without a response over 64 connections time out together', async (t) => {
  const state = { silent: true }
  const { seen, backend } = await startBackend(t, 2_500, (_, response) => {
    if (!state.silent) respond(response)
  })
  const requests = Array.from({ length: 300 }, () => backend.validateSession('s'))
  const ms = await durationOf(Promise.allSettled(requests))
  for (const request of requests) await t.rejects(request, identityUnavailable)
  t.ok(ms < 7_500, `timed out after ${ms} ms, including the wait for a connection`)
  t.ok(seen.requests < 200, `${seen.requests} requests were sent`)

  state.silent = false
  const validated = await Promise.all(Array.from({ length: 100 }, () => backend.validateSession('s')))
  t.same(validated, Array(100).fill(user))
  t.ok(seen.requests < 300, `${seen.requests} requests were sent: not those that timed out while waiting`)
  t.ok(seen.connections < 250, `${seen.connections} connections: none for requests that timed out while waiting`)
})

t.test('a validation times out when the TLS handshake never completes', async (t) => {
  const silent = createTcpServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  // The server never responds to a TLS hello, and 70 requests are more than there are connections.
  const backend = createIdentityBackend({ authUrl: `https://127.0.0.1:${port}`, service: 'payments', timeoutMs: 1_000 })
  t.teardown(async () => {
    await backend.close()
    silent.close()
  })
  const requests = Array.from({ length: 70 }, () => t.rejects(backend.validateToken('g'), identityUnavailable))
  const ms = await durationOf(Promise.all(requests))
  t.ok(ms < 1_900, `after ${ms} ms`)
})

const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
/** Raw responses, and whether the connection then closes, is reset, stays silent, or continues without end. */
const broken: Readonly<Record<string, readonly [bytes: string, end: 'closes' | 'resets' | 'hangs' | 'floods']>> = {
  'is closed before the response': ['', 'closes'],
  'is reset before the response': ['', 'resets'],
  'is closed within the headers': [head, 'closes'],
  'is closed within the body': [`${head}content-length: 5000\r\n\r\n{"success":true`, 'closes'],
  'is reset within the body': [`${head}transfer-encoding: chunked\r\n\r\n5\r\n{"suc\r\n`, 'resets'],
  'sends no HTTP': ['none\r\n\r\n', 'closes'],
  'sends endless headers': [`${head}x: ${'x'.repeat(100_000)}`, 'hangs'],
  'sends malformed chunks': [`${head}transfer-encoding: chunked\r\n\r\nnone\r\n`, 'hangs'],
  'sends two content lengths': [`${head}content-length: 3\r\ncontent-length: 4\r\n\r\nnone`, 'hangs'],
  'announces a huge body': [`${head}content-length: 99999999999\r\n\r\n`, 'floods'],
  'sends an endless body': [`${head}\r\n`, 'floods'],
  'sends nothing': ['', 'hangs'],
  'stops in the middle of the body': [`${head}content-length: 5000\r\n\r\n{"success":`, 'hangs'],
}

t.test('a broken response of the backend is identity_unavailable within the timeout [5-backend-timeout]', async (t) => {
  const timeoutMs = 1_000
  const cases = Object.entries(broken).map(async ([name, [bytes, end]]) => {
    const server = createTcpServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('data', () => {
          socket.write(bytes)
          if (end === 'closes') socket.end()
          if (end === 'resets') socket.resetAndDestroy()
          if (end !== 'floods') return
          const timer = setInterval(() => socket.write('x'.repeat(6_000)), 5)
          socket.on('close', () => clearInterval(timer))
        })
      t.teardown(() => socket.destroy())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const backend = createIdentityBackend({ authUrl: `http://127.0.0.1:${port}`, service: 'payments', timeoutMs })
    t.teardown(async () => {
      await backend.close()
      server.close()
    })
    const ms = await durationOf(
      Promise.all([
        t.rejects(backend.validateSession('s'), identityUnavailable, name),
        t.rejects(backend.validateToken('g'), identityUnavailable, name),
      ]),
    )
    t.ok(ms < 2 * timeoutMs, `${name}: after ${ms} ms`)
  })
  await Promise.all(cases)
})

t.test('the timeout covers both attempts when a validation is retried', async (t) => {
  const { seen, backend } = await startBackend(t, 2_000, (request) => {
    if (seen.requests === 1) setTimeout(() => request.socket.destroy(), 1_000)
  })
  const ms = await durationOf(t.rejects(backend.validateSession('s'), identityUnavailable))
  t.equal(seen.requests, 2)
  t.ok(ms < 2_900, `after ${ms} ms`)
})

t.test('a 401 is used when its headers arrive, and its connection is closed if the body never ends', async (t) => {
  const closed = Promise.withResolvers<void>()
  const { backend } = await startBackend(t, 1_000, (request, response) => {
    request.socket.on('close', () => closed.resolve())
    response.writeHead(401, json).write('{')
  })
  t.equal(await backend.validateSession('s'), undefined)
  await closed.promise
})

t.test('a 401 whose body is cut short still rejects the token, without a retry', async (t) => {
  const { seen, backend } = await startBackend(t, 2_000, (request, response) => {
    response.writeHead(401, { 'content-length': 100 }).write('{', () => request.socket.end())
  })
  t.equal(await backend.validateToken('g'), undefined)
  t.equal(seen.requests, 1)
})

t.test('a response with early hints, a byte order mark and split UTF-8 characters is decoded', async (t) => {
  const bytes = Buffer.from(`\ufeff${JSON.stringify({ ...valid, user: { ...valid.user, userType: 'café' } })}`)
  const { backend } = await startBackend(t, 2_000, (_, response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload' })
    response.writeHead(200, json)
    for (const byte of bytes) response.write(Buffer.of(byte))
    response.end()
  })
  t.same(await backend.validateSession('s'), { ...user, user_type: 'café' })
})

t.test('closing the client rejects pending and waiting validations', async (t) => {
  const { backend } = await startBackend(t, 30_000, () => undefined)
  const requests = Array.from({ length: 70 }, () => backend.validateSession('s'))
  const rejections = Promise.all(requests.map((request) => t.rejects(request, identityUnavailable)))
  await backend.close()
  await rejections
  await t.rejects(backend.validateSession('s'), identityUnavailable)
})

t.test('a numeric expiry below 100,000,000,000 is seconds, otherwise milliseconds', async (t) => {
  t.equal(parseInstant(99_999_999_999), 99_999_999_999_000)
  t.equal(parseInstant(100_000_000_000), 100_000_000_000)
})
