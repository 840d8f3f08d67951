import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { createIdentity } from './identity.ts'
import { createSandboxIdentity, demoGuestTokens, demoSessions, type SandboxFault } from './sandboxIdentity.ts'

const hourMs = 3_600_000
const inOneHour = new Date(Date.now() + hourMs).toISOString()

async function listen(t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function identityAt(t: Test, authUrl: string, timeoutMs = 2_000) {
  const identity = createIdentity({ authUrl, service: 'payments', adminUserTypes: ['admin', 'root'], timeoutMs })
  t.teardown(() => identity.close())
  return (headers: IncomingHttpHeaders, query: Record<string, unknown> = {}) => identity.actorOf({ headers, query })
}

/** Starts the sandbox backend. @returns its requests, and a switch for faults */
async function sandbox(t: Test, timeoutMs?: number) {
  const requests: string[] = []
  const state: { fault: SandboxFault | undefined } = { fault: undefined }
  const expired = demoSessions
    .slice(0, 1)
    .map((session) => ({ ...session, session_id: 'expired', expires_at: '2020-01-01T00:00:00Z' }))
  const server = createSandboxIdentity({
    sessions: [...demoSessions, ...expired],
    guestTokens: [
      ...demoGuestTokens,
      { token: 'stale', email: 'g@example.com', name: 'G', expires_at: '2020-01-01T00:00:00Z' },
    ],
    now: Date.now,
    fault: () => state.fault,
  })
  server.on('request', (request) => requests.push(`${request.method} ${request.url}`))
  const actorOf = identityAt(t, await listen(t, server), timeoutMs)
  return { actorOf, requests, state }
}

/** A backend that always sends this response. */
async function startBackendResponding(t: Test, status: number, body: unknown, timeoutMs?: number) {
  const listener: RequestListener = (_, response) =>
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  return identityAt(t, await listen(t, createServer(listener)), timeoutMs)
}

t.test('a session identifies its user, and its user type makes it an administrator [5-session]', async (t) => {
  const { actorOf, requests } = await sandbox(t)
  const ada = {
    kind: 'session',
    user_id: '00000000-0000-4000-8000-000000000001',
    user_email: 'ada@example.com',
    user_type: 'user',
    is_administrator: false,
  }
  t.same(await actorOf({ authorization: 'Bearer demo-session' }), ada)
  t.same(await actorOf({ 'x-session-id': 'demo-session' }), ada)
  t.same(await actorOf({}, { session_id: 'demo-session' }), ada)
  t.match(await actorOf({ 'x-session-id': 'demo-admin-session' }), { user_type: 'admin', is_administrator: true })
  t.same([...new Set(requests)], ['POST /auth/payments/validate'], 'a session id is never part of a URL')
  t.equal(requests.length, 4, 'every request is validated')
})

t.test('a guest token identifies its e-mail, and only its hash is kept [5-guest-token]', async (t) => {
  const { actorOf } = await sandbox(t)
  const token_hash = createHash('sha256').update('demo-guest-token').digest('hex')
  const guest = { kind: 'guest', guest_email: 'guest@example.com', token_hash }
  t.same(await actorOf({ authorization: 'Token demo-guest-token' }), guest)
  t.same(await actorOf({ 'x-guest-token': 'demo-guest-token' }), guest)
  t.same(await actorOf({}, { token: 'demo-guest-token' }), guest)
})

t.test('a caller without credentials is anonymous, and the backend is not called', async (t) => {
  const { actorOf, requests } = await sandbox(t)
  t.same(await actorOf({}), { kind: 'anonymous' })
  t.same(requests, [])
})

t.test('the first valid credential identifies the caller', async (t) => {
  const { actorOf, requests } = await sandbox(t)
  t.match(await actorOf({ authorization: 'Token demo-guest-token', 'x-session-id': 'demo-session' }), { kind: 'guest' })
  t.equal(requests.length, 1, 'credentials after a valid one are not validated')
  t.match(
    await actorOf(
      { authorization: 'Bearer wrong', 'x-session-id': 'expired', 'x-guest-token': 'stale' },
      {
        session_id: 'demo-session-2',
        token: 'demo-guest-token',
      },
    ),
    { kind: 'session', user_email: 'grace@example.com' },
  )
  t.match(await actorOf({ authorization: 'Basic dTpw' }, { token: 'demo-guest-token' }), { kind: 'guest' })
})

t.test('a caller with an invalid credential is unauthenticated, never anonymous [5-never-anonymous]', async (t) => {
  const { actorOf, requests } = await sandbox(t)
  const presented: [IncomingHttpHeaders, Record<string, unknown>][] = [
    [{ authorization: 'Bearer nobody' }, {}],
    [{ authorization: 'Bearer demo-guest-token' }, {}],
    [{ authorization: 'Token demo-session' }, {}],
    [{ 'x-session-id': 'expired' }, {}],
    [{ 'x-guest-token': 'stale' }, {}],
  ]
  for (const [headers, query] of presented)
    await t.rejects(actorOf(headers, query), { code: 'unauthenticated', status: 401 }, JSON.stringify(headers))
  t.equal(requests.length, presented.length)
  await t.rejects(actorOf({ 'x-session-id': '' }), { code: 'unauthenticated' })
  await t.rejects(actorOf({}, { token: ['demo-guest-token', 'demo-guest-token'] }), { code: 'unauthenticated' })
  t.equal(requests.length, presented.length, 'malformed credentials are rejected without a call')
})

t.test('a guest token is URL-encoded for the backend [5-token-call]', async (t) => {
  const { actorOf, requests } = await sandbox(t)
  await t.rejects(actorOf({ 'x-guest-token': 'a&token=demo-guest-token#/../x' }), { code: 'unauthenticated' })
  t.same(requests, ['GET /auth/token/validate?token=a%26token%3Ddemo-guest-token%23%2F..%2Fx'])
})

t.test(
  'a 401, 403, 404 or success:false from the backend makes the credential invalid [5-backend-rejects]',
  async (t) => {
    for (const status of [401, 403, 404]) {
      const actorOf = await startBackendResponding(t, status, 'no JSON at all')
      await t.rejects(actorOf({ 'x-session-id': 's' }), { code: 'unauthenticated' }, String(status))
      await t.rejects(actorOf({ 'x-guest-token': 's' }), { code: 'unauthenticated' }, String(status))
    }
    const actorOf = await startBackendResponding(t, 200, { success: false, error: 'unknown' })
    await t.rejects(actorOf({ 'x-session-id': 's' }), { code: 'unauthenticated' })
    await t.rejects(actorOf({ 'x-guest-token': 's' }), { code: 'unauthenticated' })
  },
)

t.test('a backend failure or malformed response is identity_unavailable (503) [5-backend-fails]', async (t) => {
  const closed = identityAt(t, 'http://127.0.0.1:1')
  await t.rejects(closed({ 'x-session-id': 's' }), { code: 'identity_unavailable', status: 503 })

  const { actorOf, state } = await sandbox(t, 1_000)
  const faults: SandboxFault[] = [
    'drop',
    'silent',
    { status: 500, body: '{"success":true}' },
    { status: 400, body: '{}' },
    { status: 429, body: '{"success":false}' },
    { status: 302, body: '' },
    { status: 200, body: '<html>' },
    { status: 200, body: '[]' },
    { status: 200, body: 'null' },
    { status: 200, body: '{}' },
    { status: 200, body: '{"success":"true"}' },
    { status: 204, body: '' },
    { status: 200, body: JSON.stringify({ success: false, padding: 'x'.repeat(70_000) }) },
  ]
  for (const fault of faults) {
    state.fault = fault
    for (const headers of [{ 'x-session-id': 'demo-session' }, { 'x-guest-token': 'demo-guest-token' }])
      await t.rejects(actorOf(headers), { code: 'identity_unavailable' }, JSON.stringify(fault).slice(0, 60))
  }
  state.fault = undefined
  t.match(await actorOf({ 'x-session-id': 'demo-session' }), { kind: 'session' }, 'recovers without a restart')
})

t.test('no later credential is tried when the backend fails to check one', async (t) => {
  const server = createSandboxIdentity({ sessions: [], guestTokens: demoGuestTokens, now: Date.now })
  const inner = server.listeners('request')[0] as RequestListener
  const flaky = createServer((request, response) =>
    request.method === 'POST' ? response.writeHead(500).end() : inner(request, response),
  )
  const actorOf = identityAt(t, await listen(t, flaky))
  await t.rejects(actorOf({ 'x-session-id': 's', 'x-guest-token': 'demo-guest-token' }), {
    code: 'identity_unavailable',
  })
})

t.test(
  'a success response without id, e-mail or a readable expiry is identity_unavailable [5-backend-fields]',
  async (t) => {
    const user = { id: 'u1', email: 'u@example.com', userType: 'user' }
    const valid = { success: true, user, session: { id: 's', userId: 'u1', expiresAt: inOneHour } }
    const incomplete: unknown[] = [
      { ...valid, user: { email: user.email } },
      { ...valid, user: { ...user, id: '' } },
      { ...valid, user: { ...user, id: 7 } },
      { ...valid, user: { id: 'u1' } },
      { ...valid, user: { ...user, email: null } },
      { ...valid, user: { ...user, email: ' ' } },
      { ...valid, user: undefined },
      { ...valid, session: undefined },
      { ...valid, session: { expiresAt: null } },
      { ...valid, session: { expiresAt: 'soon' } },
      { ...valid, session: { expiresAt: '2099-01-01T00:00:00' } },
      { ...valid, session: { expiresAt: '2099-13-01T00:00:00Z' } },
    ]
    t.match(await (await startBackendResponding(t, 200, valid))({ 'x-session-id': 's' }), { user_id: 'u1' })
    t.match(await (await startBackendResponding(t, 201, valid))({ 'x-session-id': 's' }), { user_id: 'u1' }, 'any 2xx')
    for (const response of incomplete) {
      const actorOf = await startBackendResponding(t, 200, response)
      await t.rejects(actorOf({ 'x-session-id': 's' }), { code: 'identity_unavailable' }, JSON.stringify(response))
    }
    const token = { success: true, user: { email: 'g@example.com' }, expires_at: inOneHour }
    t.match(await (await startBackendResponding(t, 200, token))({ 'x-guest-token': 's' }), {
      guest_email: 'g@example.com',
    })
    for (const response of [
      { ...token, user: {} },
      { ...token, expires_at: '' },
      { ...token, expires_at: undefined },
    ]) {
      const actorOf = await startBackendResponding(t, 200, response)
      await t.rejects(actorOf({ 'x-guest-token': 's' }), { code: 'identity_unavailable' }, JSON.stringify(response))
    }
  },
)

t.test('a session whose expiry is past is unauthenticated, in every time format [5-expired]', async (t) => {
  const seconds = Math.floor(Date.now() / 1000)
  const sessionUntil = (expiresAt: unknown) => ({
    success: true,
    user: { id: 'u1', email: 'u@example.com' },
    session: { expiresAt },
  })
  for (const past of [new Date(Date.now() - 1).toISOString(), seconds - 10, (seconds - 10) * 1000])
    await t.rejects((await startBackendResponding(t, 200, sessionUntil(past)))({ 'x-session-id': 's' }), {
      code: 'unauthenticated',
    })
  for (const ahead of [inOneHour, '2099-01-01T00:00:00+02:00', seconds + 60, (seconds + 60) * 1000])
    t.match(await (await startBackendResponding(t, 200, sessionUntil(ahead)))({ 'x-session-id': 's' }), {
      user_type: 'user',
    })
})

t.test('when the backend rejects every credential, only guest tokens are looked up as remembered', async (t) => {
  const rejecting = createServer((_, response) => response.writeHead(401).end())
  const options = { service: 'payments', adminUserTypes: [], timeoutMs: 2_000 }
  const identity = createIdentity({ authUrl: await listen(t, rejecting), ...options })
  t.teardown(() => identity.close())
  const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')
  const lookedUp: string[] = []
  const actorOf = identity.actorOrRemembered(async (hash) => {
    lookedUp.push(hash)
    return hash === hashOf('known') ? 'guest@example.com' : undefined
  })
  const headers = { authorization: 'Bearer known', 'x-session-id': 'known', 'x-guest-token': 'unknown' }
  await t.rejects(actorOf({ headers, query: {} }), { code: 'unauthenticated' })
  t.same(lookedUp, [hashOf('unknown')])
  t.same(await actorOf({ headers, query: { token: 'known' } }), {
    kind: 'guest',
    guest_email: 'guest@example.com',
    token_hash: hashOf('known'),
    is_remembered: true,
  })
})

t.test('a validation succeeds after the backend closed a kept-alive connection', async (t) => {
  const server = createSandboxIdentity({ sessions: demoSessions, guestTokens: [], now: Date.now })
  const actorOf = identityAt(t, await listen(t, server))
  for (let round = 0; round < 5; round++) {
    t.match(await actorOf({ 'x-session-id': 'demo-session' }), { kind: 'session' })
    server.closeAllConnections()
  }
})
