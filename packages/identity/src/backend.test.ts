import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import t, { type Test } from 'tap'
import { createIdentityBackend, readInstant } from './backend.ts'

const expiresAt = '2099-01-01T00:00:00Z'
const valid = { success: true, user: { id: 'u1', email: 'u@example.com' }, session: { expiresAt } }
const json = { 'content-type': 'application/json' }
const user = { user_id: 'u1', user_email: 'u@example.com', user_type: 'user' }
const identityUnavailable = { code: 'identity_unavailable' }
const respond = (response: ServerResponse) => response.writeHead(200, json).end(JSON.stringify(valid))

/** A backend that answers like this, what it has seen, and the client that asks it. */
async function startBackend(t: Test, timeoutMs: number, listener: RequestListener) {
  const seen = { connections: 0, questions: 0 }
  const server = createServer((request, response) => {
    seen.questions += 1
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

t.test('more silent questions than there are connections end in time, and leave room for the next', async (t) => {
  const state = { silent: true }
  const { seen, backend } = await startBackend(t, 1_000, (_, response) => {
    if (!state.silent) respond(response)
  })
  const questions = Array.from({ length: 300 }, () => backend.validateSession('s'))
  const ms = await durationOf(Promise.allSettled(questions))
  for (const question of questions) await t.rejects(question, identityUnavailable)
  t.ok(ms < 4_000, `after ${ms} ms, the wait for a connection included`)
  t.ok(seen.questions < 200, `${seen.questions} were sent: the connections there are, and what came free at the end`)

  state.silent = false
  const healed = await Promise.all(Array.from({ length: 100 }, () => backend.validateSession('s')))
  t.same(healed, Array(100).fill(user))
  t.ok(seen.questions < 300, `${seen.questions} were sent: what came too late was not`)
  t.ok(seen.connections < 250, `${seen.connections} connections: what came too late has cost none`)
})

t.test('the limit is the same where no connection comes about', async (t) => {
  const silent = createTcpServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  // Nobody answers the first words of TLS, and what is beyond the connections waits for its turn to say them.
  const backend = createIdentityBackend({ authUrl: `https://127.0.0.1:${port}`, service: 'payments', timeoutMs: 1_000 })
  t.teardown(async () => {
    await backend.close()
    silent.close()
  })
  const questions = Array.from({ length: 70 }, () => t.rejects(backend.validateToken('g'), identityUnavailable))
  const ms = await durationOf(Promise.all(questions))
  t.ok(ms < 1_900, `after ${ms} ms`)
})

t.test('the limit is for both attempts together', async (t) => {
  const { seen, backend } = await startBackend(t, 2_000, (request) => {
    if (seen.questions === 1) setTimeout(() => request.socket.destroy(), 1_000)
  })
  const ms = await durationOf(t.rejects(backend.validateSession('s'), identityUnavailable))
  t.equal(seen.questions, 2)
  t.ok(ms < 2_900, `after ${ms} ms`)
})

t.test('a refusal counts from its first line, and its connection is closed when it never ends', async (t) => {
  const closed = Promise.withResolvers<void>()
  const { backend } = await startBackend(t, 1_000, (request, response) => {
    request.socket.on('close', () => closed.resolve())
    response.writeHead(401, json).write('{')
  })
  t.equal(await backend.validateSession('s'), undefined)
  await closed.promise
})

t.test('a refusal that is cut short is one all the same', async (t) => {
  const { seen, backend } = await startBackend(t, 2_000, (request, response) => {
    response.writeHead(401, { 'content-length': 100 }).write('{', () => request.socket.end())
  })
  t.equal(await backend.validateToken('g'), undefined)
  t.equal(seen.questions, 1)
})

t.test('an answer is read whole, in whatever pieces it comes', async (t) => {
  const bytes = Buffer.from(`\ufeff${JSON.stringify({ ...valid, user: { ...valid.user, userType: 'café' } })}`)
  const { backend } = await startBackend(t, 2_000, (_, response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload' })
    response.writeHead(200, json)
    for (const byte of bytes) response.write(Buffer.of(byte))
    response.end()
  })
  t.same(await backend.validateSession('s'), { ...user, user_type: 'café' })
})

t.test('closing drops what is unanswered and what waits for a connection', async (t) => {
  const { backend } = await startBackend(t, 30_000, () => undefined)
  const questions = Array.from({ length: 70 }, () => backend.validateSession('s'))
  const refused = Promise.all(questions.map((question) => t.rejects(question, identityUnavailable)))
  await backend.close()
  await refused
  await t.rejects(backend.validateSession('s'), identityUnavailable)
})

t.test('a number is seconds as long as it would be long past as milliseconds', async (t) => {
  t.equal(readInstant(99_999_999_999), 99_999_999_999_000)
  t.equal(readInstant(100_000_000_000), 100_000_000_000)
})
