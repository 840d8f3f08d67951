import { createHash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { allRights, type GrantedRights, noRights } from '@paylog/domain/rights'
import t from 'tap'
import { createSandboxIdentity, demoGuestTokens, demoSessions, type SandboxFault } from './sandboxIdentity.ts'
import { identityAt, listen, sandbox, startBackendResponding } from './testing/identityHarness.ts'

const inOneHour = new Date(Date.now() + 3_600_000).toISOString()

t.test('a session identifies its user, and its user type makes it an administrator [5-session]', async (t) => {
  const { actorOf, requests } = await sandbox(t)
  const ada = {
    kind: 'session',
    user_id: '00000000-0000-4000-8000-000000000001',
    user_email: 'ada@example.com',
    user_type: 'user',
    ...noRights,
  }
  t.same(await actorOf({ authorization: 'Bearer demo-session' }), ada)
  t.same(await actorOf({ 'x-session-id': 'demo-session' }), ada)
  t.same(await actorOf({}, { session_id: 'demo-session' }), ada)
  t.match(await actorOf({ 'x-session-id': 'demo-admin-session' }), { user_type: 'admin', ...allRights })
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

t.test(
  'a user type has all rights in adminUserTypes, else those of RIGHTS, and else none [5-administrators]',
  async (t) => {
    const userTypes = [
      'admin',
      'Admin',
      'admin ',
      'administrator',
      'root',
      'user',
      '',
      'constructor',
      'a',
      'admin,root',
    ]
    const others = ['support', 'Support', 'auditor', 'support,auditor', 'support=read']
    const found: Record<string, GrantedRights> = {}
    for (const userType of [...userTypes, ...others]) {
      const user = { id: 'u1', email: 'u@example.com', userType }
      const session = { success: true, user, session: { expiresAt: inOneHour } }
      const actorOf = await startBackendResponding(t, 200, session)
      const actor = await actorOf({ 'x-session-id': 's' })
      t.match(actor, { user_type: userType })
      if (actor.kind !== 'session') throw new Error('no session')
      const { rights, refund_limit_cents } = actor
      if (rights.length > 0) found[userType] = { rights, refund_limit_cents }
    }
    t.same(found, {
      admin: allRights,
      root: allRights,
      support: { rights: ['read', 'refund'], refund_limit_cents: 50_000 },
      auditor: { rights: ['read', 'export'], refund_limit_cents: null },
    })
  },
)

t.test('a caller without credentials is anonymous, and the backend is not called', async (t) => {
  const { actorOf, requests } = await sandbox(t)
  t.same(await actorOf({}), { kind: 'anonymous' })
  t.same(requests, [])
})

t.test(
  'a caller with an invalid credential is unauthenticated, never anonymous [5-never-anonymous 5-empty]',
  async (t) => {
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
    for (const headers of [{ 'x-session-id': '' }, { authorization: '' }, { authorization: 'Basic dTpw' }])
      await t.rejects(actorOf(headers), { code: 'unauthenticated' }, JSON.stringify(headers))
    await t.rejects(actorOf({}, { token: ['demo-guest-token', 'demo-guest-token'] }), { code: 'unauthenticated' })
    t.equal(requests.length, presented.length, 'malformed credentials are rejected without a call')
  },
)

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
    { status: 308, body: '{"success":true}' },
    { status: 200, body: '{"success":1}' },
    { status: 200, body: '{"success":true}x' },
    { status: 200, body: '"success"' },
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

t.test('a revoked credential is rejected at once, and accepted at once when restored [1-no-accounts]', async (t) => {
  const sessions = demoSessions.slice(0, 1).map((session) => ({ ...session, expires_at: null as string | null }))
  const actorOf = identityAt(t, await listen(t, createSandboxIdentity({ sessions, guestTokens: [], now: Date.now })))
  const [session] = sessions
  if (session === undefined) throw new Error('no session')
  for (const expires_at of [null, '2020-01-01T00:00:00Z', null]) {
    session.expires_at = expires_at
    const caller = actorOf({ 'x-session-id': session.session_id })
    if (expires_at === null) t.match(await caller, { kind: 'session' })
    else await t.rejects(caller, { code: 'unauthenticated' })
  }
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
    for (const email of ['kim@bücher.example', 'kim.@example.jp'])
      t.match(await (await startBackendResponding(t, 200, { ...token, user: { email } }))({ 'x-guest-token': 's' }), {
        guest_email: email,
      })
    for (const response of [
      { ...token, user: {} },
      { ...token, user: { email: `${'a'.repeat(250)}@example.com` } },
      { ...token, user: { email: 'a\u0000@example.com' } },
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

t.test('a validation succeeds after the backend closed a kept-alive connection', async (t) => {
  const server = createSandboxIdentity({ sessions: demoSessions, guestTokens: [], now: Date.now })
  const actorOf = identityAt(t, await listen(t, server))
  for (let round = 0; round < 5; round++) {
    t.match(await actorOf({ 'x-session-id': 'demo-session' }), { kind: 'session' })
    server.closeAllConnections()
  }
})
