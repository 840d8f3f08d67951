import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { listen } from '@paylog/testing/fakeServer'
import { freePort } from '@paylog/testing/processes'
import t, { type Test } from 'tap'
import { callersHarness } from '../callersHarness.ts'

/** Contained in every backend response, and must never leak. Short, because errors quote short texts. */
const canary = 'c4n4ry'
const secret = 's3cr3t-credential'
const json = { 'content-type': 'application/json' }
const expires_at = '2099-01-01T00:00:00Z'
/** A response that is valid for a session and for a token. */
const valid = {
  success: true,
  canary,
  user: { id: canary, email: `${canary}@example.com`, name: canary, userType: 'user' },
  session: { id: 's', userId: canary, expiresAt: expires_at },
  expires_at,
}
const user = (more: object) => ({ ...valid, user: { ...valid.user, ...more } })

const respondsWith =
  (status: number, body: unknown, headers: Record<string, string> = json): RequestListener =>
  (_, response) =>
    response
      .writeHead(status, canary, { 'x-canary': canary, ...headers })
      .end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body))

/** Writes raw bytes instead of an HTTP response. */
const writes = (bytes: string, end: (socket: Socket) => void) => (socket: Socket) =>
  void socket
    .on('error', () => undefined)
    .once('data', () => {
      socket.write(bytes)
      end(socket)
    })
const head = `HTTP/1.1 200 ${canary}\r\ncontent-type: application/json\r\nx-canary: ${canary}\r\n`
const hangs = () => undefined
const closes = (socket: Socket) => void socket.end()
const resets = (socket: Socket) => void socket.resetAndDestroy()
/** Sends until the client disconnects. */
function floods(socket: Socket): void {
  const timer = setInterval(() => socket.write(canary.repeat(1_000)), 5)
  socket.on('close', () => clearInterval(timer))
}

const responses: Record<string, RequestListener> = {
  'status 500': respondsWith(500, valid),
  'status 400': respondsWith(400, valid),
  'status 429': respondsWith(429, { success: false, canary }),
  'status 502': respondsWith(502, `<html>${canary}</html>`, { 'content-type': 'text/html' }),
  'a redirect': respondsWith(302, valid, { ...json, location: '/elsewhere' }),
  'a permanent redirect': respondsWith(308, valid, { ...json, location: '/elsewhere' }),
  'no content': respondsWith(204, ''),
  HTML: respondsWith(200, `<html>${canary}</html>`, { 'content-type': 'text/html' }),
  'HTML labelled as JSON': respondsWith(200, `<html>${canary}</html>`),
  'truncated JSON': respondsWith(200, JSON.stringify(valid).slice(0, -5)),
  'JSON with trailing text': respondsWith(200, `${JSON.stringify(valid)}${canary}`),
  'another content type': respondsWith(200, valid, {
    'content-type': 'text/html; charset=utf-8',
  }),
  'a compressed body': respondsWith(200, gzipSync(JSON.stringify(valid)), { ...json, 'content-encoding': 'gzip' }),
  'compressed garbage': respondsWith(200, `\u001f\u008b${canary}`, { ...json, 'content-encoding': 'gzip' }),
  'a huge body': respondsWith(200, { ...valid, padding: canary.repeat(20_000) }),
  'a huge rejection': respondsWith(200, { success: false, padding: canary.repeat(20_000) }),
  'a JSON string': respondsWith(200, JSON.stringify(canary)),
  'plain text': respondsWith(200, canary),
  'an echoed token': (request, response) => response.writeHead(200, json).end(request.url?.split('=')[1] ?? secret),
  'a JSON array': respondsWith(200, [valid]),
  'no success field': respondsWith(200, { ...valid, success: undefined }),
  'success as text': respondsWith(200, { ...valid, success: 'true' }),
  'success as a number': respondsWith(200, { ...valid, success: 1 }),
  'no user': respondsWith(200, { ...valid, user: null }),
  'no e-mail': respondsWith(200, user({ email: undefined })),
  'a malformed e-mail': respondsWith(200, user({ email: canary })),
  'an e-mail with a control character': respondsWith(200, user({ email: `${canary}\u0000@example.com` })),
  'an e-mail with half a surrogate pair': respondsWith(200, user({ email: `${canary}\ud800@example.com` })),
  'a list of e-mails': respondsWith(200, user({ email: [`${canary}@example.com`] })),
  'no expiry': respondsWith(200, { ...valid, session: {}, expires_at: undefined }),
  'an expiry that is text': respondsWith(200, { ...valid, session: { expiresAt: canary }, expires_at: canary }),
}
const connections: Record<string, (socket: Socket) => void> = {
  'is closed at once': (socket) => void socket.end(),
  'is reset at once': (socket) => void socket.resetAndDestroy(),
  'is closed before the response': writes('', closes),
  'is reset before the response': writes('', resets),
  'is closed within the headers': writes(head, closes),
  'is closed within the body': writes(`${head}content-length: 5000\r\n\r\n${JSON.stringify(valid)}`, closes),
  'is reset within the body': writes(`${head}transfer-encoding: chunked\r\n\r\n5\r\n{"suc\r\n`, resets),
  'sends no HTTP': writes(`${canary} ${canary}\r\n${canary}\r\n\r\n`, closes),
  'sends endless headers': writes(`${head}x: ${canary.repeat(16_000)}`, hangs),
  'sends malformed chunks': writes(`${head}transfer-encoding: chunked\r\n\r\n${canary}\r\n${canary}`, hangs),
  'sends two content lengths': writes(`${head}content-length: 3\r\ncontent-length: 4\r\n\r\n${canary}`, hangs),
  'announces a huge body': writes(`${head}content-length: 99999999999\r\n\r\n`, floods),
  'sends an endless body': writes(`${head}\r\n`, floods),
}
const silences: Record<string, (socket: Socket) => void> = {
  'sends nothing': writes('', hangs),
  'sends nothing after the headers': writes(`${head}content-length: 100\r\n\r\n`, hangs),
  'stops in the middle of the body': writes(`${head}content-length: 5000\r\n\r\n{"success":`, hangs),
}

const credentials: readonly (readonly [path: string, ...headers: string[]])[] = [
  ['/known', 'X-Session-ID', secret],
  ['/known', 'X-Guest-Token', secret],
  ['/anyone', 'Authorization', `Bearer ${secret}`],
  [`/remembered?token=${secret}`],
  [`/remembered?session_id=${secret}`, 'X-Guest-Token', secret],
]

/** @returns how long the responses took, in ms */
async function assertAllRejected(t: Test, authUrl: string): Promise<number> {
  const remembered: string[] = []
  const { send, logged } = await callersHarness(t, {
    authUrl,
    async emailOf(hash) {
      remembered.push(hash)
      return 'remembered@example.com'
    },
  })
  const started = performance.now()
  const all = await Promise.all(credentials.map(([path, ...headers]) => send({ method: 'PUT', path, headers })))
  const took = performance.now() - started
  for (const { status, body } of all) {
    t.equal(status, 503)
    const { error } = JSON.parse(body)
    t.strictSame(JSON.parse(body), {
      success: false,
      error: {
        code: 'identity_unavailable',
        message: 'The identity backend is unavailable; try again',
        request_id: error.request_id,
      },
    })
  }
  t.same(remembered, [], 'no token is looked up')
  t.ok(took < 4_000, `${took} ms`)
  const failures = logged.filter((line) => line.includes('request failed'))
  t.equal(failures.length, credentials.length, 'every failure is logged')
  t.notMatch([...all.map(({ body }) => body), ...logged].join('\n'), new RegExp(`${canary}|${secret}|remembered@`))
  return took
}

for (const [name, listener] of Object.entries(responses))
  t.test(`an identity backend response with ${name} is 503 and leaks nothing`, async (t) =>
    assertAllRejected(t, await listen(t, createHttpServer(listener))),
  )

/** Starts a raw TCP server. */
async function listenRaw(t: Test, respond: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)))
    respond(socket)
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `http://127.0.0.1:${port}`
}

for (const [name, respond] of Object.entries(connections))
  t.test(`an identity backend connection that ${name} is 503`, async (t) =>
    assertAllRejected(t, await listenRaw(t, respond)),
  )

for (const [name, respond] of Object.entries(silences))
  t.test(`an identity backend connection that ${name} times out after 2 s [5-backend-timeout]`, async (t) => {
    const took = await assertAllRejected(t, await listenRaw(t, respond))
    t.ok(took > 1_900, `waited ${took} ms`)
  })

t.test('an unreachable identity backend is 503', async (t) =>
  assertAllRejected(t, `http://127.0.0.1:${await freePort()}`),
)

t.test('a 401 of the identity backend is 401 regardless of its body', async (t) => {
  const { send, logged } = await callersHarness(t, {
    authUrl: await listen(t, createHttpServer(respondsWith(401, valid))),
  })
  for (const [path, ...headers] of credentials) {
    const { status, body } = await send({ path, headers })
    t.match([status, JSON.parse(body)], [401, { error: { code: 'unauthenticated' } }])
    t.notMatch(body, new RegExp(`${canary}|${secret}`))
  }
  t.notMatch(logged.join('\n'), new RegExp(`${canary}|${secret}`))
})

t.test('the identity responses of these tests are valid without a fault', async (t) => {
  for (const headers of [json, { 'content-type': 'application/json; charset=utf-8' }, {}] as Record<string, string>[]) {
    const authUrl = await listen(t, createHttpServer(respondsWith(200, valid, headers)))
    const { send } = await callersHarness(t, { authUrl })
    for (const [path, ...more] of credentials) t.equal((await send({ path, headers: more })).status, 200, path)
  }
})
