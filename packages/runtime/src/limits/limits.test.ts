import { once } from 'node:events'
import { request } from 'node:http'
import { DomainError } from '@paylog/domain/errors'
import { noRights } from '@paylog/domain/rights'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { createCallers } from '../http/callers.ts'
import { apiHarness } from '../testing/apiHarness.ts'

const off = {
  RATE_LIMIT_PER_MINUTE: '0',
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: '0',
  RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '0',
}

const ada = {
  kind: 'session',
  user_id: 'ada',
  user_email: 'ada@example.com',
  user_type: 'customer',
  ...noRights,
} as const

/** Routes like those of the apps: a hook validates credentials, and those that start with `bad` are invalid. */
async function limitedApi(
  t: Test,
  variables: Readonly<Record<string, string>>,
  validate: (credential: string) => Promise<void> = async () => {},
) {
  const seen = { validations: 0, handled: 0 }
  const { anyone: authenticate } = createCallers(async ({ headers, onInvalid }) => {
    const presented = [headers.authorization?.replace(/^Bearer /, ''), headers['x-session-id']]
    const credentials = presented.filter((credential) => credential !== undefined)
    if (credentials.length === 0) return { kind: 'anonymous' }
    for (const credential of credentials) {
      seen.validations++
      const isBad = await validate(String(credential)).then(
        () => String(credential).startsWith('bad'),
        () => true,
      )
      if (!isBad) return ada
      onInvalid?.()
    }
    throw new DomainError('unauthenticated', 'invalid credential')
  })
  const served = await apiHarness(t, { ...off, ...variables }, async (http) => {
    const handler = async () => ({ handled: ++seen.handled })
    http.get('/things', { onRequest: authenticate }, handler)
    http.post('/payments', { onRequest: authenticate, config: { callers: 'anyone' } }, handler)
    for (const route of ['/test', '/simulate'])
      http.post(route, { onRequest: authenticate, config: { limit: 'webhookTests' } }, handler)
    http.post('/webhooks/provider', { config: { callers: 'providers' } }, handler)
  })
  const send = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(`${served.url}${path}`, { method, headers })
    const { error } = JSON.parse(await response.text())
    const limit = ['limit', 'remaining', 'reset'].map((name) => response.headers.get(`ratelimit-${name}`))
    return { status: response.status, error, limit, retryAfter: response.headers.get('retry-after') }
  }
  return { ...served, seen, send }
}

const session = (id: string) => ({ 'x-session-id': id })

t.test('a credential is limited to RATE_LIMIT_PER_MINUTE, and headers report the rest [8-rate]', async (t) => {
  const { send, seen } = await limitedApi(t, { RATE_LIMIT_PER_MINUTE: '3' })
  for (const left of ['2', '1', '0']) {
    const { status, limit } = await send('/things', session('ada'))
    t.same([status, ...limit.slice(0, 2)], [200, '3', left])
    t.ok(Number(limit[2]) > 50 && Number(limit[2]) <= 60, 'seconds until the window ends')
  }
  const { status, limit, retryAfter, error } = await send('/things', session('ada'))
  t.same([status, error.code, ...limit.slice(0, 2)], [429, 'rate_limited', '3', '0'])
  t.equal(retryAfter, limit[2])
  t.equal(error.details.retry_after_seconds, Number(retryAfter))
  t.same(seen, { validations: 3, handled: 3 }, 'rejected requests are not validated')
  t.equal((await send('/things', session('grace'))).status, 200, 'another caller')
  t.equal((await send('/things')).status, 200, 'an anonymous one')
})

t.test('a credential has one count in every header and parameter, also with other credentials', async (t) => {
  const { send } = await limitedApi(t, { RATE_LIMIT_PER_MINUTE: '5' })
  await send('/things', session('ada'))
  await send('/things', { authorization: 'Bearer ada' })
  await send('/things?session_id=ada')
  await send('/things?token=made-up-1', session('ada'))
  const { limit } = await send('/things', { ...session('ada'), 'x-guest-token': 'made-up-2' })
  t.equal(limit[1], '0')
  t.equal((await send('/things?token=made-up-3', session('ada'))).status, 429)
})

t.test('concurrent requests cannot exceed a limit', async (t) => {
  const { send } = await limitedApi(t, { RATE_LIMIT_PER_MINUTE: '10', RATE_LIMIT_ANONYMOUS_PER_MINUTE: '10' })
  for (const [path, headers, method] of [
    ['/things', session('ada'), 'GET'],
    ['/payments', {}, 'POST'],
  ] as const) {
    const responses = await Promise.all(Array.from({ length: 40 }, () => send(path, headers, method)))
    t.equal(responses.filter(({ status }) => status === 200).length, 10, path)
    t.equal(responses.filter(({ status }) => status === 429).length, 30, path)
  }
})

t.test('only anonymous payments count by address [8-rate-anonymous]', async (t) => {
  const { send, url } = await limitedApi(t, { RATE_LIMIT_ANONYMOUS_PER_MINUTE: '2' })
  for (const status of [200, 200, 429, 429]) t.equal((await send('/payments', {}, 'POST')).status, status)
  t.equal((await send('/payments', session('ada'), 'POST')).status, 200, 'with a credential')
  t.equal(
    (await send('/payments', { 'x-forwarded-for': '192.0.2.1' }, 'POST')).status,
    429,
    'X-Forwarded-For of an untrusted client is ignored',
  )
  for (let n = 0; n < 10; n++) {
    t.equal((await send('/things')).status, 200)
    const headers = { authorization: 'Bearer of-provider' }
    t.equal((await send('/webhooks/provider', headers, 'POST')).status, 200, 'provider notifications')
    t.equal((await fetch(`${url}/health/live`)).status, 200)
  }
})

t.test(
  'webhook tests have their own limit of 10 a minute per session over all their routes [8-rate-tests]',
  async (t) => {
    const { send, seen } = await limitedApi(t, { RATE_LIMIT_PER_MINUTE: '100' })
    for (let left = 9; left >= 0; left--) {
      const { status, limit } = await send(left % 2 ? '/test' : '/simulate', session('ada'), 'POST')
      t.same([status, ...limit.slice(0, 2)], [200, '10', String(left)])
    }
    for (const path of ['/test', '/simulate']) {
      const { status, error, limit, retryAfter } = await send(path, session('ada'), 'POST')
      t.same([status, error.code, ...limit.slice(0, 2)], [429, 'rate_limited', '10', '0'])
      t.ok(Number(retryAfter) > 0)
    }
    t.equal(seen.handled, 10)
    t.equal((await send('/test', { ...session('ada'), 'x-guest-token': 'made-up' }, 'POST')).status, 429)
    t.equal((await send('/test', session('grace'), 'POST')).status, 200, 'another session')
    t.same((await send('/things', session('ada'))).limit.slice(0, 2), ['100', '86'], 'other routes are not affected')
  },
)

t.test('RATE_LIMIT_WEBHOOK_TESTS_PER_MINUTE=0 means no limit', async (t) => {
  const { send } = await limitedApi(t, { RATE_LIMIT_WEBHOOK_TESTS_PER_MINUTE: '0' })
  for (let n = 0; n < 12; n++) t.equal((await send('/test', session('ada'), 'POST')).status, 200)
})

t.test('provider notifications have no limit, even with invalid credentials', async (t) => {
  const { send } = await limitedApi(t, { RATE_LIMIT_PER_MINUTE: '1', RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '1' })
  for (let n = 0; n < 15; n++) await send('/things', session('bad'))
  t.equal((await send('/things', session('bad'))).status, 429)
  for (let n = 0; n < 5; n++) t.equal((await send('/webhooks/provider', session('bad'), 'POST')).status, 200)
})

t.test('behind trusted proxies the right-most untrusted address counts', async (t) => {
  const variables = { RATE_LIMIT_ANONYMOUS_PER_MINUTE: '1', TRUST_PROXY: '127.0.0.0/8,10.0.0.0/8' }
  const { send } = await limitedApi(t, variables)
  const from = async (forwarded: string) => (await send('/payments', { 'x-forwarded-for': forwarded }, 'POST')).status
  t.equal(await from('192.0.2.1'), 200)
  t.equal(await from('198.51.100.7, 192.0.2.1'), 429, 'an address that the client added on the left is ignored')
  t.equal(await from('198.51.100.8, 192.0.2.1, 10.1.2.3'), 429, 'another trusted proxy in between')
  t.equal(await from('192.0.2.1:50123'), 429, 'a proxy that adds the port')
  t.equal(await from('192.0.2.2'), 200)
  t.equal(await from('2001:db8:1:2::5'), 200)
  t.equal(await from('2001:DB8:1:2:ffff::'), 429, 'the same /64')
  t.equal(await from('2001:db8:1:3::5'), 200)
})

t.test('beyond the limit of invalid credentials, few are validated and valid ones are accepted', async (t) => {
  const { send, seen } = await limitedApi(t, { RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '3' })
  t.equal((await send('/things', session('ada'))).status, 200, 'a valid credential does not count')
  for (let n = 0; n < 3; n++) t.equal((await send('/things', session(`bad-${n}`))).status, 401)
  const { status, error, limit, retryAfter } = await send('/things', session('bad-3'))
  t.same([status, error.code, ...limit.slice(0, 2)], [429, 'rate_limited', '3', '0'])
  t.ok(Number(retryAfter) > 50)
  t.equal(seen.validations, 5, 'it was validated')
  t.equal((await send('/things', session('grace'))).status, 200, 'a valid credential that was not seen before')
  const startedAt = performance.now()
  for (let n = 0; n < 30; n++) t.equal((await send('/things', session(`bad-more-${n}`))).status, 429)
  const passed = Math.ceil((performance.now() - startedAt) / 1_000)
  t.ok(
    seen.validations >= 6 + 8 && seen.validations <= 6 + 8 + passed,
    `ten beyond the limit, and one a second: ${seen.validations}`,
  )
  t.match(await send('/things', session('bad')), { status: 429, retryAfter: '1' })
  for (const known of ['ada', 'grace']) t.equal((await send('/things', session(known))).status, 200, known)
  t.equal((await send('/things')).status, 200, 'an anonymous request')
})

t.test('a credential that was valid is still validated, and counts once it is revoked', async (t) => {
  const revoked = new Set<string>()
  const { send, seen } = await limitedApi(t, { RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '1' }, async (credential) => {
    if (revoked.has(credential)) throw new DomainError('unauthenticated', 'revoked')
  })
  for (let n = 0; n < 3; n++) t.equal((await send('/things', session('ada'))).status, 200)
  t.equal(seen.validations, 3)
  revoked.add('ada')
  t.equal((await send('/things', session('ada'))).status, 401)
  t.equal((await send('/things', session('bad'))).status, 429, 'the revoked credential counted')
})

t.test('an invalid credential beside a valid one counts, but only once', async (t) => {
  const { send } = await limitedApi(t, { RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '3' })
  const guess = (n: number) => send('/things', { ...session('ada'), authorization: `Bearer bad-${n}` })
  for (let n = 0; n < 20; n++) t.equal((await guess(0)).status, 200, 'the valid credential is accepted')
  t.equal((await send('/things', session('bad'))).status, 401)
  const statuses: number[] = []
  for (let n = 1; n < 20; n++) statuses.push((await guess(n)).status)
  t.equal(statuses.at(0), 200)
  t.equal(statuses.at(-1), 429)
})

t.test('concurrent guesses beyond the limit are validated at most 20 more times', async (t) => {
  const { promise: backend, resolve: respond } = Promise.withResolvers<void>()
  const { seen, send } = await limitedApi(t, { RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '5' }, () => backend)
  const guesses = Array.from({ length: 90 }, (_, n) => send('/things', session(`bad-${n}`)))
  await waitFor(() => seen.validations >= 15, { what: 'the first guesses to reach the backend' })
  respond()
  const statuses = (await Promise.all(guesses)).map(({ status }) => status)
  t.equal(statuses.filter((status) => status === 401).length, 5)
  t.equal(statuses.filter((status) => status === 429).length, 85)
  t.ok(seen.validations >= 15 && seen.validations <= 25, `${seen.validations}`)
})

t.test('concurrent valid credentials do not count as invalid', async (t) => {
  const { send } = await limitedApi(t, { RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '60' })
  const valid = await Promise.all(Array.from({ length: 50 }, (_, n) => send('/things', session(`user-${n}`))))
  t.ok(valid.every(({ status }) => status === 200))
  for (let n = 0; n < 60; n++) t.equal((await send('/things', session(`bad-${n}`))).status, 401)
})

t.test('a guess counts even if its client disconnects', async (t) => {
  const { promise: backend, resolve: respond } = Promise.withResolvers<void>()
  const { url, seen, send } = await limitedApi(t, { RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '3' }, () => backend)
  const guesses = [1, 2, 3].map((n) => request(`${url}/things`, { headers: session(`bad-${n}`), agent: false }))
  for (const guess of guesses) guess.on('error', () => undefined).end()
  await waitFor(() => seen.validations === 3, { what: 'the guesses to reach the backend' })
  for (const guess of guesses) guess.destroy()
  await waitFor(() => guesses.every(({ closed }) => closed), { what: 'the connections to close' })
  respond()
  t.equal((await send('/things', session('bad'))).status, 429)
})

t.test('a 429 is sent before the body is read', async (t) => {
  const { url, send } = await limitedApi(t, { RATE_LIMIT_PER_MINUTE: '1' })
  await send('/things', session('ada'))
  const post = request(`${url}/payments`, {
    method: 'POST',
    headers: { ...session('ada'), 'content-type': 'application/json', 'content-length': '100000' },
  })
  post.on('error', () => undefined).flushHeaders()
  const [response] = await once(post, 'response')
  t.equal(response.statusCode, 429)
  post.destroy()
})

t.test('a limit of 0 means no limit [8-rate-zero]', async (t) => {
  const { send } = await limitedApi(t, {})
  for (let n = 0; n < 70; n++) {
    const { status, limit } = await send('/payments', n % 2 === 0 ? {} : session('bad'), 'POST')
    t.equal(status, n % 2 === 0 ? 200 : 401)
    t.same(limit, [null, null, null])
  }
})

t.test(
  'an address is limited to 600 readiness and metrics requests a minute, without effect on other routes',
  async (t) => {
    const { url, send } = await limitedApi(t, { RATE_LIMIT_PER_MINUTE: '5' })
    const status = async (path: string) => {
      const response = await fetch(`${url}${path}`)
      await response.bytes()
      return response.status
    }
    for (let n = 0; n < 300; n++) for (const path of ['/health/ready', '/metrics']) t.equal(await status(path), 200)
    for (const path of ['/health/ready', '/metrics']) t.equal(await status(path), 429, path)
    t.equal(await status('/health/live'), 200)
    t.equal((await send('/things', session('ada'))).status, 200)
  },
)
